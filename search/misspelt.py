"""Misspelt words of a question, read as the words that stand in what was found: “manufactoriing”.

Misspelt words find their passages (`kb.index.words`), but the models that read these doubt all of them. So a
word is replaced that stands nowhere in what was searched, that no dictionary of its language has, and that is
few letters away from a word of the passages found. “Austria” is never read as “Australia”.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne
from spellchecker import SpellChecker

from core.text.analysis import terms
from kb.index.words import QueryWord
from search.question_language import language_of
from search.retrieval import RankedChunk

SHORTEST = 5
LETTERS_PER_MISTAKE, MOST_MISTAKES = 4, 2
"""A word of 5 letters may have one that is wrong, one of 8 or more two."""
MOST_WORDS, MOST_OF_WORDS = 2, 1 / 3
"""So many words, or this share of a long question, may be misspelt: with more it is about something else."""

_WORD = re.compile(r"\b[^\W\d_]{5,40}\b")
_IN_DICTIONARIES = frozenset(SpellChecker.languages())


def spelling(question: str, words: Sequence[QueryWord], found: Sequence[RankedChunk]) -> dict[str, str]:
    """Return the misspelt words of a question as it has them, each with what is meant.

    `words` are those of the question as they were searched, `found` is what they have found.
    """
    language = language_of(question)
    if language not in _IN_DICTIONARIES or language not in {each.chunk.language for each in found}:
        return {}
    seen = {term for word in words if word.occurs and word.read_as is None for term in word.expansions}
    unknown = [
        word
        for word in dict.fromkeys(_WORD.findall(question))
        if not word.isupper()
        and (own := terms(word, language))
        and seen.isdisjoint(own)
        and word.casefold() not in _dictionary(language)
    ]
    if len(unknown) > max(MOST_WORDS, MOST_OF_WORDS * len(terms(question, language))):
        return {}
    texts = [
        f"{each.chunk.text} {each.chunk.document.name}"
        for each in found
        if each.chunk.language in (None, language)
    ]
    written = {word for text in texts for word in _WORD.findall(text.casefold())}
    meant = {word: _meant(word.casefold(), written) for word in unknown}
    return {word: _in_case_of(word, other) for word, other in meant.items() if other}


def respelt(question: str, spelling: Mapping[str, str]) -> str:
    """Return a question with its misspelt words replaced."""
    return _WORD.sub(lambda word: spelling.get(word[0], word[0]), question)


def _meant(word: str, written: set[str]) -> str | None:
    """Return the word that is the fewest letters away; whoever misspells a word knows how it begins."""
    likely = sorted(other for other in written if other[0] == word[0])
    most = min(len(word) // LETTERS_PER_MISTAKE, MOST_MISTAKES)
    found = extractOne(word, likely, scorer=OSA.distance, score_cutoff=most)
    return found[0] if found else None


def _in_case_of(word: str, other: str) -> str:
    return other.capitalize() if word[0].isupper() else other


@lru_cache(maxsize=2)
def _dictionary(language: str) -> frozenset[str]:
    return frozenset(SpellChecker(language=language).word_frequency.words())
