"""Which sentences say most of a document: central ones, near its beginning or below a telling heading.

    chunks ── centrality + position + headings ──▶ the best, far apart ── their sentences ──▶ abstract, points

Centrality is the similarity of a chunk to all others, after LexRank (Erkan and Radev 2004) with the chunks'
vectors in place of words; being far apart is maximal marginal relevance (Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.text.tables import is_table
from kb.embedding.calibration import Calibration

Floats = NDArray[np.float32]
EmbedSentences = Callable[[Sequence[str]], Floats]
"""From sentences to unit vectors, shape (sentences, dimensions)."""

MOST_POINTS = 7
MOST_IN_ABSTRACT = 3
CHUNKS_LOOKED_AT = 16
SENTENCES_OF_A_CHUNK = 14
MOST_OF_A_SECTION = 3
FEWEST_SENTENCES = 5
"""A document with fewer is its own summary."""
OPENING = 3
"""So many chunks are the beginning of a document."""
EARLIER = 0.06
"""By so much a sentence of the first chunk goes before an equal one of the next."""
SAME = 0.88
"""Sentences that are more similar say the same."""
FEWEST_WORDS, MOST_WORDS = 7, 55
# Of English, German, French and Spanish together.
_LISTS = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
BOILERPLATE = tuple(_LISTS.pop("boilerplate").split("|"))
_WORD_LISTS = {name: frozenset(words.split()) for name, words in _LISTS.items()}
TELLING = _WORD_LISTS["telling"]
OF_NO_USE = _WORD_LISTS["of_no_use"]
DANGLING = _WORD_LISTS["dangling"]
"""A sentence that begins with one of these leans on the one before it."""
_OPENING_MARKS = '“"„«¿¡‘'
# References as in encyclopaedias stand behind the full stop: “in 2013.[7]”.
_CLOSING = "”\"’')»]0123456789["
_WORD = re.compile(r"[^\W\d_]++")


class Place(NamedTuple):
    """A sentence by its chunk and its offsets in the chunk's text."""

    chunk: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SummaryChunk:
    """A chunk as far as summaries need it."""

    text: str
    headings: Sequence[str]
    sentences: Sequence[tuple[int, int]]
    is_text: bool
    """Whether it is running text: not a table, not a picture."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """Sentences in reading order; both empty where the document is too short."""

    abstract: tuple[Place, ...] = ()
    key_points: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: Place
    text: str
    vector: Floats
    score: float


def extract_summary(
    chunks: Sequence[SummaryChunk], vectors: Floats, calibration: Calibration, embed: EmbedSentences
) -> Extracted:
    """Return the sentences of a summary; `vectors` are unit vectors, shape (chunks, dimensions).

    They and those of `embed` are of the model that `calibration` belongs to. `embed` is called once, with at
    most `CHUNKS_LOOKED_AT · SENTENCES_OF_A_CHUNK` sentences.
    """
    usable = [at for at, chunk in enumerate(chunks) if _is_usable(chunk)]
    if sum(1 for at in usable for _ in _sentences(chunks[at], at)) < FEWEST_SENTENCES:
        return Extracted()
    centre = _unit(vectors[usable].mean(axis=0))
    worth = {at: _worth(chunks, vectors, centre, at) for at in usable}
    looked_at = _far_apart(usable, worth, vectors, chunks)
    sentences = _weighed(chunks, vectors, centre, worth, sorted({*looked_at, *usable[:OPENING]}), embed)
    if len(sentences) < FEWEST_SENTENCES:
        return Extracted()
    same = calibration.cosine_of_texts(SAME)
    abstract = _abstract(chunks, usable, sentences, same)
    points = _key_points(sentences, abstract, same)
    return Extracted(_in_order(abstract), _in_order(points))


# --- Chunks ------------------------------------------------------------------------------------------------


def _is_usable(chunk: SummaryChunk) -> bool:
    return chunk.is_text and not is_table(chunk.text) and not _words_of(chunk.headings) & OF_NO_USE


def _words_of(headings: Sequence[str]) -> set[str]:
    return {word for heading in headings for word in heading.casefold().split() if len(heading) < 100}


def _worth(chunks: Sequence[SummaryChunk], vectors: Floats, centre: Floats, at: int) -> float:
    """Return how much a chunk stands for the document, about 0 to 1.5."""
    position = 0.15 * float(np.exp(-10 * at / max(len(chunks), 10)))
    telling = 0.2 if _words_of(chunks[at].headings[-1:]) & TELLING else 0.0
    return float(vectors[at] @ centre) + position + telling


def _far_apart(
    usable: Sequence[int], worth: dict[int, float], vectors: Floats, chunks: Sequence[SummaryChunk]
) -> list[int]:
    """Return the chunks of most worth that say different things, not too many of one section."""
    chosen: list[int] = []
    left = sorted(usable, key=lambda at: -worth[at])[: 8 * CHUNKS_LOOKED_AT]
    sections = {tuple(chunks[at].headings) for at in left}
    most_of_one = max(MOST_OF_A_SECTION, CHUNKS_LOOKED_AT // len(sections))
    of_section: Counter[tuple[str, ...]] = Counter()
    while left and len(chosen) < CHUNKS_LOOKED_AT:
        nearest = (vectors[left] @ vectors[chosen].T).max(axis=1) if chosen else np.zeros(len(left))
        best = max(range(len(left)), key=lambda i: worth[left[i]] - 0.5 * float(nearest[i]))
        at = left.pop(best)
        section = tuple(chunks[at].headings)
        of_section[section] += 1
        if of_section[section] <= most_of_one:
            chosen.append(at)
    return chosen


# --- Sentences ---------------------------------------------------------------------------------------------


def _sentences(chunk: SummaryChunk, at: int) -> Iterator[tuple[Place, str]]:
    """Yield the sentences that can stand alone, with their text in one line."""
    headings = {" ".join(heading.split()).casefold() for heading in chunk.headings}
    for start, end in chunk.sentences[:SENTENCES_OF_A_CHUNK]:
        text = " ".join(chunk.text[start:end].split())
        if text.casefold() not in headings and stands_alone(text):
            yield Place(at, start, end), text


def stands_alone(text: str) -> bool:
    """Tell whether a text is a whole sentence that can be read without the one before it."""
    words = text.split()
    letters = sum(map(str.isalpha, text))
    return (
        FEWEST_WORDS <= len(words) <= MOST_WORDS
        and text.rstrip(_CLOSING)[-1:] in {".", "!", "。", "！"}
        and (text[0].isupper() or text[0].isdigit() or _begins_quoted(text))
        and letters >= 0.6 * len(text)
        and "http" not in text
        and not any(phrase in text.casefold() for phrase in BOILERPLATE)
        and "...." not in text
        and sum(word[:1].isupper() for word in words) <= 0.6 * len(words)
        and words[0].casefold().strip(",") not in DANGLING
    )


def _begins_quoted(text: str) -> bool:
    """Tell whether a text begins with a letter, perhaps quoted, that is no small one."""
    letter = text[1:2] if text[0] in _OPENING_MARKS else text[0]
    return letter.isalpha() and not letter.islower()


def _weighed(
    chunks: Sequence[SummaryChunk],
    vectors: Floats,
    centre: Floats,
    worth: dict[int, float],
    looked_at: Sequence[int],
    embed: EmbedSentences,
) -> list[_Sentence]:
    found = [(place, text) for at in looked_at for place, text in _sentences(chunks[at], at)]
    if not found:
        return []
    embedded = embed([text for _, text in found])
    return [
        _Sentence(place, text, vector, _score(place, text, vector, vectors[place.chunk], centre, worth))
        for (place, text), vector in zip(found, embedded, strict=True)
    ]


def _score(
    place: Place, text: str, vector: Floats, of_chunk: Floats, centre: Floats, worth: dict[int, float]
) -> float:
    """A sentence stands for its chunk and the document; the first of a chunk mostly says what follows."""
    first = 0.06 if place.start < 40 else 0.0
    short = 0.08 if len(_WORD.findall(text)) < 10 else 0.0
    closeness = 0.5 * float(vector @ centre) + 0.3 * float(vector @ of_chunk)
    return closeness + 0.4 * worth[place.chunk] + first - short


def _abstract(
    chunks: Sequence[SummaryChunk], usable: Sequence[int], sentences: Sequence[_Sentence], same: float
) -> list[_Sentence]:
    """Return the opening of an abstract that the document has, or else what stands for it best."""
    own = next((at for at in usable if _words_of(chunks[at].headings[-1:]) & {"abstract", "summary"}), None)
    if own is not None:
        of_own = [each for each in sentences if each.place.chunk == own][:MOST_IN_ABSTRACT]
        if len(of_own) > 1:
            return of_own
    opening = [each for each in sentences if each.place.chunk in usable[:OPENING]]
    order = {at: EARLIER * place for place, at in enumerate(usable[:OPENING])}
    first = max(opening or sentences, key=lambda each: each.score - order.get(each.place.chunk, 0.0))
    return _apart([first], sentences, MOST_IN_ABSTRACT, same)


def _key_points(
    sentences: Sequence[_Sentence], abstract: Sequence[_Sentence], same: float
) -> list[_Sentence]:
    """Return the best sentences, of different chunks first, that say what the abstract does not."""
    best: dict[int, _Sentence] = {}
    taken = {each.place for each in abstract}
    for each in sorted(sentences, key=lambda each: -each.score):
        if each.place not in taken:
            best.setdefault(each.place.chunk, each)
    several = list(best.values())
    rest = [each for each in sentences if each not in several and each.place not in taken]
    count = min(MOST_POINTS, max(3, len(sentences) // 3))
    points = _apart([], several, count, same, abstract)
    return points if len(points) >= 3 else _apart(points, rest, 3, same, abstract)


def _apart(
    chosen: Sequence[_Sentence],
    candidates: Sequence[_Sentence],
    count: int,
    same: float,
    others: Sequence[_Sentence] = (),
) -> list[_Sentence]:
    """Return `count` sentences, those chosen first, then the best that none of them says already."""
    kept = list(chosen)
    for each in sorted(candidates, key=lambda each: -each.score):
        if len(kept) == count:
            break
        if all(float(each.vector @ one.vector) < same for one in (*kept, *others)):
            kept.append(each)
    return kept


def _in_order(sentences: Sequence[_Sentence]) -> tuple[Place, ...]:
    return tuple(sorted(each.place for each in sentences))


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
