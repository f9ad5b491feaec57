"""Words that stand only parted at a line's end: is the chunk that holds such a word found first by it?"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from bench.reading.documents import Document
from bench.reading.tables import Figure
from core.text.analysis import terms
from kb.chunks import ChunkDraft

FIRST_HALF = re.compile(r"([^\W\d_]{2,})[-‐\u00ad]\Z")
SECOND_HALF = re.compile(r"[^\W\d_]{2,}")
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
FEWEST_LETTERS = 6
# So many words of each document, drawn in the same way each time.
DRAWN, SEED = 12, 17
K1, B = 1.2, 0.75

Read = tuple[Document, list[ChunkDraft]]


class PartedWord(NamedTuple):
    """A word of a document, and the page on which it is parted."""

    page: int
    word: str


def word_figures(documents: Sequence[Read], wrong: list[str]) -> list[Figure]:
    """Return how many parted words are found first by a search for the whole word."""
    known = {word for document, _ in documents for word in _whole_words(document)}
    hits = total = 0
    for document, drafts in documents:
        own = {term for word in set(_whole_words(document)) for term in terms(word, document.language)}
        # A word with the same stem is found as well, so the document must not hold one.
        parted = sorted(
            each
            for each in set(_parted_words(document))
            if each.word in known and (stems := set(terms(each.word, document.language))) and not own & stems
        )
        random.Random(SEED).shuffle(parted)  # noqa: S311
        index = WordSearch(drafts, document.language)
        for each in parted[:DRAWN]:
            first = index.find_first(each.word)
            is_found = (
                first is not None and _is_on(first, each.page) and each.word in first.located.text.casefold()
            )
            hits += is_found
            total += 1
            if not is_found:
                wrong.append(f"{document.path.name} page {each.page}: {each.word}")
    return [Figure("parted words found first in their document", hits, total)]


def _parted_words(document: Document) -> Iterator[PartedWord]:
    for line, following in pairwise(document.lines):
        first, second = FIRST_HALF.search(line.text), SECOND_HALF.match(following.text)
        if first and second and second[0].islower() and line.page == following.page:
            word = (first[1] + second[0]).casefold()
            if len(word) >= FEWEST_LETTERS:
                yield PartedWord(line.page, word)


def _whole_words(document: Document) -> Iterator[str]:
    for line in document.lines:
        for word in WORD.findall(line.text):
            yield word.casefold()


def _is_on(draft: ChunkDraft, page: int) -> bool:
    return any(box.page.number == page for box in draft.located.boxes())


class WordSearch:
    """BM25 over the terms of a document's chunks, as the word index makes them."""

    def __init__(self, drafts: Sequence[ChunkDraft], language: str | None) -> None:
        self._drafts, self._language = drafts, language
        self._held = [Counter(terms(draft.located.text, language)) for draft in drafts]
        self._holders = Counter(term for held in self._held for term in held)
        self._mean = sum(held.total() for held in self._held) / max(len(drafts), 1)

    def find_first(self, word: str) -> ChunkDraft | None:
        """Return the best chunk, None if no chunk holds the word."""
        wanted = terms(word, self._language)
        scores = [self._score(wanted, held) for held in self._held]
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        return self._drafts[best] if best is not None and scores[best] > 0 else None

    def _score(self, wanted: Iterable[str], held: Counter[str]) -> float:
        length = 1 - B + B * held.total() / max(self._mean, 1.0)
        return sum(
            math.log(1 + (len(self._drafts) - self._holders[term] + 0.5) / (self._holders[term] + 0.5))
            * held[term]
            * (K1 + 1)
            / (held[term] + K1 * length)
            for term in wanted
        )
