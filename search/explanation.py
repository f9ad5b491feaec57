"""Why a search found what it found: how its words were read, and each chunk's rank in each stage."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict
from typing import Literal, get_args
from uuid import UUID

from pydantic import BaseModel, Field

from core.text.analysis import terms
from kb.index.phrases import phrases_in
from kb.index.words import QueryWord
from kb.models import Chunk, with_headings
from search.misspelt import respelt
from search.retrieval import RankedChunk, Ranking

StageName = Literal["words", "vector", "fused", "rerank"]
Ranks = dict[StageName, int | None]
PIECE = re.compile(r"\w(?:\S*\w)?")


class ExplainedTerm(BaseModel):
    """What was looked for in place of a word of the question."""

    looked_for: list[str] = Field(description="Its stems in the languages of what is searched; mostly one.")
    read_as: str | None = Field(description="The similar stem that was looked for, as its own stand nowhere.")
    candidates: int = Field(description="How many of the candidates hold it.")
    weight: float = Field(description="Its inverse document frequency: the rarer, the more it counts.")


class QuestionWord(BaseModel):
    """A word as the question has it; without terms it is one that tells nothing, such as “the”."""

    word: str
    terms: list[ExplainedTerm]


class ChunkExplanation(BaseModel):
    """What brought a chunk where it is."""

    ranks: Ranks = Field(description="From 1, among all candidates; null where the stage did not find it.")
    relevance: float = Field(description="How likely it is about what is asked, 0 to 1.")
    matches: list[tuple[int, int]] = Field(
        description="Where words of the question stand in `text`: code points, from and to."
    )


class Explanation(BaseModel):
    """Why these chunks, in this order."""

    words: list[QuestionWord]
    phrases: list[str] = Field(description="What the question has in quotes; if it stands anywhere, it must.")
    chunks: dict[UUID, ChunkExplanation] = Field(description="One for each result, by its chunk.")


def explain(question: str, ranking: Ranking, count: int, spelling: Mapping[str, str]) -> Explanation:
    """Explain the first `count` results of a ranking that holds all candidates.

    `spelling` has the misspelt words of the question, each with what is meant.
    """
    ranks = _ranks(ranking.results)
    looked_for = {term for word in ranking.words for term in word.idf}
    return Explanation(
        words=_words(question, ranking, spelling),
        phrases=phrases_in(question),
        chunks={
            found.chunk.pk: ChunkExplanation(
                ranks=ranks[found.chunk.pk],
                relevance=round(found.relevance, 4),
                matches=list(matches(found.chunk, looked_for)),
            )
            for found in ranking.results[:count]
        },
    )


# --- The question ----------------------------------------------------------------------------------------


def _words(question: str, ranking: Ranking, spelling: Mapping[str, str]) -> list[QuestionWord]:
    chunks = [found.chunk for found in ranking.results]
    languages = {chunk.language or None for chunk in chunks}
    held = [set(terms(with_headings(chunk.headings, chunk.text), chunk.language or None)) for chunk in chunks]
    words = []
    for piece in PIECE.findall(question):
        meant = respelt(piece, spelling)
        own = {term for language in languages for term in terms(meant, language)}
        found = [_term(word, held) for word in ranking.words if own & word.expansions]
        if meant != piece:
            found = [each.model_copy(update={"read_as": min(each.looked_for)}) for each in found]
        words.append(QuestionWord(word=piece, terms=found))
    return words


def _term(word: QueryWord, held: Sequence[Set[str]]) -> ExplainedTerm:
    return ExplainedTerm(
        looked_for=sorted(word.idf),
        read_as=word.read_as,
        candidates=sum(not own.isdisjoint(word.idf) for own in held),
        weight=round(word.weight, 4),
    )


# --- Chunks ----------------------------------------------------------------------------------------------


def _ranks(candidates: Sequence[RankedChunk]) -> dict[UUID, Ranks]:
    ranks: dict[UUID, Ranks] = {found.chunk.pk: {} for found in candidates}
    for stage in get_args(StageName):
        scores = {found.chunk.pk: asdict(found.scores)[stage] for found in candidates}
        # Where none of the words stands the score is 0: that is not to be found by them.
        reached = [id for id, score in scores.items() if score is not None and (score or stage != "words")]
        places = {id: place for place, id in enumerate(sorted(reached, key=lambda id: -scores[id]), start=1)}
        for id, row in ranks.items():
            row[stage] = places.get(id)
    return ranks


def matches(chunk: Chunk, looked_for: Set[str]) -> Iterator[tuple[int, int]]:
    """Yield where in a chunk's text these terms stand, as code points from and to."""
    for piece in PIECE.finditer(chunk.text):
        found = looked_for & set(terms(piece[0], chunk.language or None))
        if found:
            yield from _inside(piece, found) or [piece.span()]


def _inside(piece: re.Match[str], found: Set[str]) -> list[tuple[int, int]]:
    """Return where terms stand in a piece of a script without spaces between words; nothing for others."""
    if not any(unicodedata.category(character) == "Lo" for character in piece[0]):
        return []
    places = re.finditer("|".join(map(re.escape, sorted(found, key=len, reverse=True))), piece[0])
    return [(piece.start() + place.start(), piece.start() + place.end()) for place in places]
