"""How well does the product find? Judged questions in, figures out.

    DATASET ─ datasets ─▶ queries, judgements ─ collection ─▶ cases ─ run ─▶ outcomes ─ metrics ─▶ figures
                                                                                         report ─▶ HTML

`manage.py evaluate` is the way in; docs/evaluation.md says how to write questions of one's own.
"""
