"""Which language is a question in? It is too short for statistics: its stop words tell, and its letters."""

from __future__ import annotations

from core.text.analysis import terms

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
"""Those in which answers are written; ISO 639-1."""


def language_of(question: str) -> str:
    """Return the one of our languages of which most of the words are stop words; English if unsure."""
    words = len(terms(question, None))
    stop_words = {language: words - len(terms(question, language)) for language in LANGUAGES}
    return max(stop_words, key=lambda language: stop_words[language])


def is_english(question: str) -> bool:
    """Tell whether a question is in English, as far as its letters and stop words tell."""
    letters = [letter for letter in question if letter.isalpha()]
    in_ascii = sum(map(str.isascii, letters))
    return 2 * in_ascii >= len(letters) and language_of(question) == "en"
