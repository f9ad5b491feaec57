"""Which language is a question in? It is too short for statistics: its stop words tell, and its letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from core.text.analysis import terms
from core.text.tables import is_table

if TYPE_CHECKING:
    from search.contexts import Context

AnyContext = TypeVar("AnyContext", bound="Context")

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt")
"""Those in which answers are written; ISO 639-1."""
WITH_STOP_WORDS = (*LANGUAGES, "da", "fi", "hu", "no", "sv", "tr")
"""Those of Latin letters whose stop words are known."""

_QUESTION_WORDS = {
    "en": {"what", "which", "who", "when", "where", "why", "how"},
    "de": {
        *("welche", "welchem", "welchen", "welcher", "welches", "wer", "wem", "wen", "wessen", "wann", "wie"),
        *("wo", "woher", "wohin", "wofür", "womit", "worin", "worauf", "worum", "wovon", "wozu", "wodurch"),
        *("warum", "wieso", "weshalb", "wieviel", "wieviele"),
    },
    "fr": {
        *("quel", "quelle", "quels", "quelles", "lequel", "laquelle", "qui", "quoi"),
        *("combien", "quand", "où", "pourquoi", "comment"),
    },
    "es": {
        *("qué", "cuál", "cuáles", "quién", "quiénes", "cuánto", "cuánta", "cuántos", "cuántas", "dónde"),
        *("cuándo", "cómo", "cual", "cuales", "quien", "quienes", "cuanto", "cuantos", "cuantas", "cuando"),
    },
    "it": {
        *("quale", "quali", "chi", "cosa", "quanto", "quanta", "quanti", "quante"),
        *("dove", "quando", "perché"),
    },
    "nl": {"welke", "welk", "wat", "wie", "waar", "wanneer", "waarom", "hoeveel", "hoe"},
    "pt": {"qual", "quais", "quem", "quanto", "quanta", "quantos", "quantas", "onde", "quando"},
}
"""Spanish is often typed without accents."""
_GERMAN_WHAT = re.compile(
    r"\bwas (?:genau )?(?:ist|sind|war|waren|wird|werden|wurden?|kann|können|soll|sollen|muss|müssen|darf"
    r"|dürfen|hat|haben|hatten?|kostet|kosten|bedeute[nt]|macht|machen|heißt|steht|stehen|gibt|tut|tun"
    r"|passiert|geschieht|enthält|zeigt|zeigen|sagt|sagen|bringt|braucht|benötigt|fehlt|gehört|gilt|kommt"
    r"|kam|meint|hilft|umfasst|zählt|unterscheidet|bewirkt|verdient|für|\w{0,20}[äöüß]\w{0,20})\b",
    re.IGNORECASE,
)
"""“Was” asks in German, and is a verb in English: what follows tells which."""
LATIN = "LATIN"
_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "kk", "ky", "mn"), frozenset(("CYRILLIC",))),
    **dict.fromkeys(("ar", "fa", "ur", "ps"), frozenset(("ARABIC",))),
    **dict.fromkeys(("hi", "ne", "mr"), frozenset(("DEVANAGARI",))),
    **dict.fromkeys(("he", "yi"), frozenset(("HEBREW",))),
    "sr": frozenset((LATIN, "CYRILLIC")),
    "el": frozenset(("GREEK",)),
    "hy": frozenset(("ARMENIAN",)),
    "ka": frozenset(("GEORGIAN",)),
    "bn": frozenset(("BENGALI",)),
    "ta": frozenset(("TAMIL",)),
    "te": frozenset(("TELUGU",)),
    "th": frozenset(("THAI",)),
    "ko": frozenset(("HANGUL", "CJK")),
    "ja": frozenset(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK")),
    "zh": frozenset(("CJK",)),
}
"""How languages are written that are not, or not only, in Latin letters."""
_LETTERS = {
    "de": "äöüß",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "es": "áéíñóúü",
    "it": "àèéìíîòóùú",
    "nl": "áèéëíïóöúü",
    "pt": "áâãàçéêíóôõúü",
}
"""The letters of our languages besides a to z; in English there are those of any loan word."""
QUESTION_WORD_WEIGHT = 2
"""They tell more than other stop words: “a” is one of five languages."""

FIRST, MOSTLY = 12, 0.75
"""Of so many passages those whose language is known tell; such a share must be in English."""


def language_of(question: str) -> str:
    """Return the one of our languages that has most of the stop and question words; English if unsure.

    One that lacks a letter of the question is none of it: Polish has words of Dutch and Portuguese.
    """
    letters = frozenset(letter for word in _words_without_names(question) for letter in word)
    foreign = {letter for letter in letters if letter.isalpha() and not letter.isascii()}
    weights = {
        language: weight
        for language, weight in _weights(question, LANGUAGES).items()
        if foreign <= set(_LETTERS.get(language, foreign))
    }
    return max(weights, key=lambda language: weights[language])


@lru_cache(maxsize=512)
def is_in_another_language(question: str, language: str | None) -> bool:
    """Tell whether a question is surely not in the language of a text (ISO 639-1, None if unknown)."""
    if not language:
        return False
    script, scripts = _script_of(question), _SCRIPTS.get(language, frozenset((LATIN,)))
    if script not in scripts or script != LATIN:
        return script is not None and script not in scripts
    weights = _weights(question, {*WITH_STOP_WORDS, language})
    # Of a language whose stop words are not known no word speaks for it, and some speak for others.
    lead = 0 if language in WITH_STOP_WORDS else QUESTION_WORD_WEIGHT
    return weights[language] + lead < max(weights.values())


def _weights(question: str, languages: Iterable[str]) -> dict[str, int]:
    """Return how much speaks for each language."""
    asking, count = _words_without_names(question), len(terms(question, None))
    weights = {
        language: count
        - len(terms(question, language))
        + QUESTION_WORD_WEIGHT * len(asking & _QUESTION_WORDS.get(language, set()))
        for language in languages
    }
    weights["de"] += QUESTION_WORD_WEIGHT * (_GERMAN_WHAT.search(question) is not None)
    return weights


def _words_without_names(question: str) -> set[str]:
    """Return the first word and those without a capital: the Doctor Who of a German question asks nothing."""
    words = re.findall(r"\w+", question)
    all_are_upper = question.isupper()
    return {
        word.casefold() for at, word in enumerate(words) if at == 0 or all_are_upper or not word[0].isupper()
    }


def in_language_of(question: str, contexts: Sequence[AnyContext]) -> list[AnyContext]:
    """Return contexts with the question's language for tables of no language: of names and figures alone."""
    asked = language_of(question)
    return [
        replace(context, language=asked) if context.language is None and is_table(context.text) else context
        for context in contexts
    ]


def is_english(question: str) -> bool:
    """Tell whether a question is in English, as far as its letters and stop words tell."""
    return _script_of(question) in (LATIN, None) and language_of(question) == "en"


def are_english(question: str, languages: Sequence[str | None]) -> bool:
    """Tell whether a question is in English, and so are the passages found for it, best first, or most of
    them."""
    known = [language for language in languages[:FIRST] if language]
    return known.count("en") >= MOSTLY * len(known) and is_english(question)


def _script_of(question: str) -> str | None:
    """Return the script of most letters as Unicode calls it; None without a letter."""
    # Most names of letters begin with their script: “CYRILLIC SMALL LETTER A”.
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in question if letter.isalpha())
    return scripts.most_common(1)[0][0] if scripts else None
