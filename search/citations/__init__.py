"""Citations that hold.

model's text ──markers──▶ text with <source_N> ──claims──▶ what each sentence says, and of whom
                                                ──support─▶ which context bears it out
                                                ──resolve─▶ the response with <citation>, quotes, boxes
"""
