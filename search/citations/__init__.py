"""Verified citations.

model's text ──markers──▶ text with <source_N> ──claims──▶ what each sentence says of which source
             ──support──▶ which context supports it
             ──resolve──▶ the response with <citation>, quotes, boxes
"""
