"""The languages of the pages and mails. The source is English, and the English text is the key (ADR 51)."""

from __future__ import annotations

SOURCE_LANGUAGE = "en"
LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français"}
"""Each language by its code, under its own name."""


def shown_by_modules(text: str) -> str:
    """Mark an English text of the API that pages show in the reader's language; the API keeps it as it is."""
    return text
