"""Deep questions: split into parts that are looked up one by one, and answered by a report (ADR 74).

    question ─▶ parts ─▶ each: calls of tools ─▶ a section, written and checked as every answer
                                    │
                  one source book ──┴─▶ evidence table, and what was not answered

splitting.py  by rule, or by a chat model     report.py  the text of the report, with its citations
answering.py  from a request to its report
"""
