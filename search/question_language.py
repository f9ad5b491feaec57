"""Which language is a question in? It is too short for statistics: its stop words tell, and its letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.text.analysis import terms
from core.text.tables import is_table

if TYPE_CHECKING:
    from search.contexts import Context

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
"""Those in which answers are written; ISO 639-1."""

_QUESTION_WORDS = {
    "en": {"what", "which", "who", "when", "where", "why", "how"},
    "de": {"welche", "welcher", "welches", "wer", "wann", "wo", "warum", "wie"},
    "fr": {"quel", "quelle", "quels", "quelles", "qui", "combien", "quand", "où", "pourquoi", "comment"},
    "es": {"qué", "cuál", "cuáles", "quién", "cuánto", "cuántos", "cuántas", "dónde", "cuándo", "cómo"},
    "it": {"quale", "quali", "chi", "quanto", "quanti", "quante", "dove", "quando", "perché"},
    "nl": {"welke", "wat", "wie", "waar", "wanneer", "waarom", "hoeveel", "hoe"},
    "pt": {"qual", "quais", "quem", "quanto", "quantos", "quantas", "onde", "quando"},
}
_GERMAN_WHAT = re.compile(
    r"\bwas (?:genau )?(?:ist|sind|war|waren|wird|werden|wurden?|kann|können|soll|sollen|muss|müssen|darf"
    r"|dürfen|hat|haben|hatten?|kostet|kosten|bedeute[nt]|macht|machen|heißt|steht|stehen|gibt|tut|tun"
    r"|passiert|geschieht|enthält|zeigt|zeigen|sagt|sagen|bringt|braucht|benötigt|fehlt|gehört|gilt|kommt"
    r"|kam|meint|hilft|umfasst|zählt|unterscheidet|bewirkt|verdient|für)\b",
    re.IGNORECASE,
)
"""“Was” asks in German, and is a verb in English: what follows tells which."""
QUESTION_WORD_WEIGHT = 2
"""They tell more than other stop words: “a” is one of five languages."""


def language_of(question: str) -> str:
    """Return the one of our languages that has most of the stop and question words; English if unsure."""
    words, count = set(re.findall(r"\w+", question.casefold())), len(terms(question, None))
    asking = {language: len(words & _QUESTION_WORDS[language]) for language in LANGUAGES}
    asking["de"] += _GERMAN_WHAT.search(question) is not None
    weights = {
        language: count - len(terms(question, language)) + QUESTION_WORD_WEIGHT * asking[language]
        for language in LANGUAGES
    }
    return max(weights, key=lambda language: weights[language])


def in_language_of(question: str, contexts: Sequence[Context]) -> list[Context]:
    """Return contexts with the question's language for tables of no language: of names and figures alone."""
    asked = language_of(question)
    return [
        replace(context, language=asked) if context.language is None and is_table(context.text) else context
        for context in contexts
    ]


def is_english(question: str) -> bool:
    """Tell whether a question is in English, as far as its letters and stop words tell."""
    letters = [letter for letter in question if letter.isalpha()]
    in_ascii = sum(map(str.isascii, letters))
    return 2 * in_ascii >= len(letters) and language_of(question) == "en"
