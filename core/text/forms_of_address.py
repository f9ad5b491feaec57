"""What stands before a person's name and is no part of it, in the languages of questions."""

from __future__ import annotations

FORMS_OF_ADDRESS = frozenset(
    (
        *("mr", "mrs", "ms", "miss", "mx", "sir", "madam", "dr", "prof", "professor"),
        *("frau", "herr", "herrn", "monsieur", "madame", "mademoiselle", "mme", "mlle"),
        *("señor", "señora", "sr", "sra", "signor", "signora", "senhor", "senhora", "meneer", "mevrouw"),
    )
)
"""Folded."""
