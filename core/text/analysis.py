"""From text to the terms of the word index; documents and questions are analysed in the same way.

A word becomes its stem without case and accents. A name such as “E-505”, “ISO-9001:2015” or “report_v2.pdf”
becomes one term and, additionally, its parts. A raised figure, such as the mark of a note, is no part of a
number. Scripts without spaces between words become overlapping pairs of characters.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path

import Stemmer

from core.text.normalizing import normalize
from core.text.raised import without_raised

# Snowball's lists as PostgreSQL ships them (docs/licences.md), by algorithm.
_STOP_WORDS = Path(__file__).with_name("stop_words.json").read_bytes()
_LISTS = hashlib.sha256(_STOP_WORDS).hexdigest()[:8]
# To be raised with every change of this module that turns a text into other terms.
_RULES = 2
ANALYSIS_VERSION = f"{_RULES} PyStemmer-{Stemmer.version()} stop-words-{_LISTS}"
"""What decides the terms of a text. Terms that another version made are renewed (`kb.index.renewing`).

Python's version of Unicode is no part of it: a new one adds characters, and leaves the terms of others alone.
"""

Analyser = Callable[[str], tuple[str, ...]]

# ISO 639-1 -> the Snowball algorithm that knows its word forms (https://snowballstem.org/algorithms/).
_ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
# In running text nearly every word was seen before; sentences without spaces were not.
REMEMBERED = 1 << 17
LONGEST_REMEMBERED = 24
LONGEST_TERM = 64
"""Longer strings, in characters, are not words that anybody searches for: encoded data, rules of dashes."""

LONGEST_WORD = 4 * LONGEST_TERM
"""No stemmer makes a term of a longer word, so none is called."""

# Letters that Unicode does not decompose, as PostgreSQL's `unaccent` writes them.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
# Accents, vowel points of Hebrew and Arabic, and invisible characters; marks of other scripts are vowels.
_UNSEEN = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0652\u0640\u00ad\u200b-\u200d\u2060\ufeff]"
)


def _marks() -> str:
    r"""Return a character class of the combining marks: Python's `\w` matches only letters and digits."""
    # A class that goes beyond the first 65,536 characters is slow, and the scripts there have other needs.
    codes = [code for code in range(1 << 16) if unicodedata.category(chr(code)).startswith("M")]
    ends = [code for code, after in zip(codes, [*codes[1:], 0], strict=True) if after != code + 1]
    starts = [code for code, before in zip(codes, [0, *codes[:-1]], strict=True) if before != code - 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


_MARKS = _marks()
_LETTER = rf"[\w{_MARKS}\u00ad\u200b-\u200d\u2060\ufeff]"
_SEPARATORS = r"-_./:@+\u2010\u2011"
_TOKEN = re.compile(rf"{_LETTER}++(?:(?:[{_SEPARATORS}]|(?<=\d),(?=\d)){_LETTER}++)*+")
_SEPARATOR = re.compile(rf"[{_SEPARATORS},]")
_NOT_BETWEEN_DIGITS = re.compile(rf"(?<!\d)[{_SEPARATORS},]|[{_SEPARATORS},](?!\d)")
_DIGIT = re.compile(r"\d")

_NUMBER = re.compile(r"(?<!\d)\d++(?:[.,]\d++)++")
_GROUPED_BY_COMMAS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GROUPED_BY_DOTS = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_DECIMAL = re.compile(r"(?<!\d)\d++[.,]\d++")

_HAN_KANA_HANGUL = (
    "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff々〆〇"
)
_THAI_LAO_MYANMAR_KHMER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
UNSPACED = re.compile(f"([{_HAN_KANA_HANGUL}{_THAI_LAO_MYANMAR_KHMER}]+)")
"""Runs of scripts whose words nothing separates, or that endings are joined to."""
# A letter with its marks is one unit.
_UNIT = re.compile(f".[{_MARKS}]*")


def terms(text: str, language: str | None) -> list[str]:
    """Return the terms of a text in order, each as often as it occurs.

    `language` is ISO 639-1 and decides stems and stop words. If it is None or has no stemmer, words lose only
    case and accents. A question is analysed in each language that its texts are in.
    """
    analyse, remember = _analysers(language or "")
    pieces = text.split()
    return list(
        chain.from_iterable(remember(p) if len(p) <= LONGEST_REMEMBERED else analyse(p) for p in pieces)
    )


@cache
def _analysers(language: str) -> tuple[Analyser, Analyser]:
    """Return two functions from text without spaces to its terms; the second one caches its results.

    Threads may share them.
    """
    term_of = _term_of(_ALGORITHMS.get(language.partition("-")[0].lower(), ""))

    def analyse(piece: str) -> tuple[str, ...]:
        folded = normalize("NFKC", _without_marks(piece)).casefold()
        candidates = chain.from_iterable(map(_candidates, _TOKEN.findall(folded)))
        found = (term_of(word) for word in candidates if len(word) <= LONGEST_WORD)
        return tuple(term for term in found if term and len(term) <= LONGEST_TERM)

    return analyse, lru_cache(REMEMBERED)(analyse)


def _without_marks(piece: str) -> str:
    """Return “$0.16²” without its note, and “NER⁴” with and without it: it may be a unit, as “m²” is."""
    bare = without_raised(piece)
    return piece if bare == piece else f"{piece} {bare}" if bare.isalpha() else bare


def _term_of(algorithm: str) -> Callable[[str], str]:
    """Return the function from a lower-case word to its term, which is empty for stop words."""
    if not algorithm:
        return _without_accents
    stemmer = Stemmer.Stemmer(algorithm, 0)
    stop_words = _stop_words(algorithm)
    # A stemmer has one buffer.
    lock = threading.Lock()

    def term_of(word: str) -> str:
        if word in stop_words:
            return ""
        if _DIGIT.search(word):
            return _without_accents(word)
        with lock:
            return _without_accents(stemmer.stemWord(word))

    return term_of


@cache
def _stop_words(algorithm: str) -> frozenset[str]:
    """Return the stop words, none where Snowball has no list."""
    return frozenset(json.loads(_STOP_WORDS).get(algorithm, "").split())


def _candidates(token: str) -> Iterator[str]:
    """Yield the candidates for a token's terms: itself, its parts, or pairs of its characters."""
    if token.isascii() and token.isalpha():
        yield token
    elif _NUMBER.fullmatch(token):
        yield from _numbers(token)
    elif UNSPACED.search(token):
        for run in UNSPACED.split(token):
            yield from _pairs(run) if UNSPACED.match(run) else _candidates(run) if run else ()
    else:
        parts = [part for part in _SEPARATOR.split(token) if part]
        if len(parts) > 1:
            # “E-505” and “E505”, “e-mail” and “email” are one; “1.2” and “12” are not.
            yield _NOT_BETWEEN_DIGITS.sub("", token)
        yield from parts


def _numbers(token: str) -> Iterator[str]:
    """Yield a number without thousands separators and with a decimal point; for other digits also parts."""
    if _GROUPED_BY_COMMAS.fullmatch(token):
        yield token.replace(",", "")
    elif _GROUPED_BY_DOTS.fullmatch(token):
        yield token.replace(".", "").replace(",", ".")
        if token.count(".") == 1 and "," not in token:
            yield token
    elif _DECIMAL.fullmatch(token):
        yield token.replace(",", ".")
    else:
        yield token
        yield from _SEPARATOR.split(token)


def _pairs(run: str) -> Iterator[str]:
    units = _UNIT.findall(run)
    yield from map("".join, pairwise(units)) if len(units) > 1 else units


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    bare = _UNSEEN.sub("", normalize("NFKD", word))
    return normalize("NFC", bare).translate(_LETTERS)
