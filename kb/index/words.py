"""Ranking by words: BM25 over the posting lists of a view.

    score(q, d) = Σ_t idf(t) · f / (f + k1 · (1 - b + b · |d| / avg))
    idf(t) = ln(1 + (N - n + ½) / (n + ½))

as Lucene computes it (Robertson and Zaragoza 2009, "The probabilistic relevance framework"): f is how often
term t stands in chunk d, |d| its number of terms, n how many chunks hold t; N, n and the average length are
those of the view, so that the weight of a word follows from what is searched and from nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.text import analysis
from kb.index.postings import PostingList
from kb.index.view import Rows, View, concatenate

K1 = 0.9
B = 0.4
SHORTEST_MISSPELT = 4
MOST_MISSPELT = 2
"""A short question may have so many misspelt words, even if these are all of its words."""
LEAST_SIMILARITY = 0.4
"""Trigrams in common, 0 to 1: “reveneu” and “revenu” share 0.45."""


Expansions = frozenset[str]
"""The terms of a question's word in all languages of the searched chunks; mostly one."""


def question_words(text: str, languages: Collection[str]) -> list[Expansions]:
    """Return the informative words of a question, as terms in each of these languages.

    A stop word of one language is left out: that language's index does not hold it, and in others it would
    look rare.
    """
    words: list[Expansions] = []
    for piece in text.split():
        by_language = {tuple(analysis.terms(piece, language or None)) for language in languages}
        if len({len(found) for found in by_language}) == 1:
            words += map(frozenset, zip(*by_language, strict=True))
        elif all(by_language):
            words += [frozenset([term]) for found in by_language for term in found]
    return list(dict.fromkeys(words))


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a question as it was searched: its terms that occur, with their weights."""

    expansions: Expansions
    idf: Mapping[str, float]
    read_as: str | None = None
    """The similar term that was used because none of the expansions occurs."""
    similarity: float = 1.0
    """Their similarity, 0 to 1."""
    occurs: bool = True
    """Whether any chunk that was searched has one of the terms in `idf`."""
    is_added: bool = False
    """Whether it stands for other words of the question, which need not occur beside it."""

    @property
    def weight(self) -> float:
        """The inverse document frequency of the word's rarest term."""
        return max(self.idf.values())


@dataclass(frozen=True, slots=True)
class WordScores:
    """The result of a question's words: the score of each row of the view, 0 where none of them occurs."""

    scores: NDArray[np.float32]
    words: Sequence[QueryWord]
    _posted: Mapping[str, _Posted]

    def best(self, count: int) -> Rows:
        """Return the rows with the highest scores, best first; ties in reading order."""
        return highest(self.scores, np.flatnonzero(self.scores >= self._least(count)), count)

    def _least(self, count: int) -> float:
        """Return a score above 0 that at least `count` rows reach, if so many have one.

        It is found among the rows of one word: a search among all rows would take longer than the rest of
        `best`.
        """
        frequent = [found.rows for found in self._posted.values() if len(found) >= count]
        if not frequent:
            return float(np.finfo(np.float32).tiny)
        return float(np.partition(self.scores[min(frequent, key=len)], -count)[-count])

    def coverage(self, rows: Rows) -> NDArray[np.float64]:
        """Return the share, 0 to 1, of the question's weight that each of these rows covers."""
        covered = np.zeros(len(rows))
        asked = [word for word in self.words if not word.is_added]
        for word in asked:
            held = [self._posted[term].holds(len(self.scores))[rows] for term in word.idf]
            covered += word.weight * np.any(held, axis=0)
        whole = sum(word.weight for word in asked)
        return covered / whole if whole else covered


class KnownTerms(Protocol):
    """The terms of the chunks that are searched."""

    def holds(self, term: str) -> bool:
        """Return whether any chunk has the term."""

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term, also of one that no chunk has."""

    def similar_term(self, term: str, least: float) -> tuple[str, float] | None:
        """Return the term that shares most trigrams with `term`, and its similarity: `least` to 1."""


def read_words(
    lexicon: KnownTerms, question: Sequence[Expansions], also: Sequence[Expansions] = ()
) -> list[QueryWord]:
    """Weigh the words of a question; a word that does not occur is read as a similar one.

    Words that stand for others count `also`, if they occur.
    """
    known = [_known_word(lexicon, expansions) for expansions in question]
    # Most words do not occur: a question in another language, whose words are not misspelt.
    other = _unknown_word if known.count(None) > max(MOST_MISSPELT, len(known) / 2) else _similar_word
    words = [word or other(lexicon, expansions) for word, expansions in zip(known, question, strict=True)]
    added = (_known_word(lexicon, each) for each in also if each not in question)
    return [*words, *(replace(word, is_added=True) for word in added if word is not None)]


def score_words(view: View, question: Sequence[Expansions], also: Sequence[Expansions] = ()) -> WordScores:
    """Score all rows for the words of a question, as `read_words` reads them."""
    posted = _posted_rows(view, {term for expansions in (*question, *also) for term in expansions})
    words = read_words(_ViewLexicon(view, posted), question, also)
    mean = _mean_length(view)
    scores = np.zeros(view.size, np.float32)
    for word in words:
        for term, idf in word.idf.items():
            found = posted[term]
            often = found.counts.astype(np.float32)
            norms = length_norms(view.lengths[found.rows], mean)
            scores[found.rows] += word.similarity * idf * often / (often + norms)
    return WordScores(scores, words, posted)


def length_norms(lengths: NDArray[Any], mean: float) -> NDArray[np.float32]:
    """Return k1 · (1 - b + b · |d| / avg) for chunks with so many terms."""
    shares = lengths.astype(np.float32) / np.float32(max(mean, 1.0))
    norms: NDArray[np.float32] = np.float32(K1 * (1 - B)) + np.float32(K1 * B) * shares
    return norms


def inverse_frequency(chunks: int, holding: int) -> float:
    """Return idf(t) of a term that `holding` of `chunks` chunks have."""
    return math.log1p((chunks - holding + 0.5) / (holding + 0.5))


def _known_word(lexicon: KnownTerms, expansions: Expansions) -> QueryWord | None:
    idf = {term: lexicon.idf(term) for term in sorted(expansions) if lexicon.holds(term)}
    return QueryWord(expansions, idf) if idf else None


def _similar_word(lexicon: KnownTerms, expansions: Expansions) -> QueryWord:
    """Read a word that does not occur as the most similar one that does; numbers are similar to none."""
    for term in sorted(expansions):
        if len(term) < SHORTEST_MISSPELT or any(character.isdigit() for character in term):
            continue
        if found := lexicon.similar_term(term, LEAST_SIMILARITY):
            similar, similarity = found
            return QueryWord(expansions, {similar: lexicon.idf(similar)}, similar, similarity)
    return _unknown_word(lexicon, expansions)


def _unknown_word(lexicon: KnownTerms, expansions: Expansions) -> QueryWord:
    idf = {term: lexicon.idf(term) for term in sorted(expansions)}
    return QueryWord(expansions, idf, occurs=False)


def holding_all(view: View, looked_for: Collection[str]) -> Rows:
    """Return the rows that hold every one of these terms, ascending; all rows if there are no terms."""
    posted = sorted(_posted_rows(view, looked_for).values(), key=len)
    rows = posted[0].rows if posted else np.flatnonzero(view.alive)
    for found in posted[1:]:
        rows = rows[found.holds(view.size)[rows]]
    return np.sort(rows)


@dataclass(frozen=True, slots=True)
class _Posted:
    """The rows that hold a term, and how often each does."""

    rows: Rows
    counts: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.rows)

    def holds(self, size: int) -> NDArray[np.bool_]:
        """Return for each row of a view of this size whether it holds the term.

        Marking a million rows takes less time than sorting the rows of a frequent word.
        """
        held = np.zeros(size, np.bool_)
        held[self.rows] = True
        return held


def _posted_rows(view: View, looked_for: Collection[str]) -> dict[str, _Posted]:
    return {term: _in_view(view, lists) for term, lists in view.postings(looked_for).items()}


def _in_view(view: View, lists: list[tuple[int, PostingList]]) -> _Posted:
    begins = np.array([begin for begin, _ in lists], np.intp)
    rows = concatenate([each.positions for _, each in lists], np.uint16).astype(np.intp)
    rows += np.repeat(begins, [len(each.positions) for _, each in lists])
    counts = concatenate([each.counts for _, each in lists], np.uint8)
    if view.count == view.size:
        return _Posted(rows, counts)
    alive = view.alive[rows]
    return _Posted(rows[alive], counts[alive])


@dataclass(frozen=True, slots=True)
class _ViewLexicon:
    """The terms of a view; `posted` has those of the question, and gets those that replace them."""

    view: View
    posted: dict[str, _Posted]

    def holds(self, term: str) -> bool:
        return len(self.posted[term]) > 0

    def idf(self, term: str) -> float:
        return inverse_frequency(self.view.count, len(self.posted[term]))

    def similar_term(self, term: str, least: float) -> tuple[str, float] | None:
        found = self.view.similar_term(term, least)
        if found:
            self.posted.update(_posted_rows(self.view, {found[0]}))
        return found


def _mean_length(view: View) -> float:
    lengths = view.lengths if view.count == view.size else view.lengths[view.alive]
    return float(lengths.mean()) if view.count else 0.0


def highest(scores: NDArray[np.float32], rows: Rows, count: int) -> Rows:
    """Return the `count` of `rows` with the highest scores, best first; ties in the order of rows."""
    if len(rows) > count:
        least = np.partition(scores[rows], -count)[-count]
        rows = rows[scores[rows] >= least]
    return rows[np.argsort(-scores[rows], kind="stable")][:count]
