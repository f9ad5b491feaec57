"""Ranking as a whole: stages left out, a reranker with too little time, near duplicates, relevance."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.conf import settings
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from core.llm.payment import Payment
from kb.models import ChunkVector, Document
from search import candidates
from search.questions import DEFAULT, Question, RankingSettings
from search.rerank.overlap import OverlapReranker
from search.retrieval import RankedChunk, Ranking, rank
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.payments import UNRECORDED

TEXTS = [
    "The lighthouse at Nakkehoved was built in 1772. Its keeper baked bread for the fishermen.",
    "The tower of Kolding was built in 1843 by masons of the town.",
    "Herring is smoked in the harbour and sold in the town.",
    "Pumps of the old kind were built before 1990.",
    "A keeper of bees needs a hat, a smoker and patience.",
]
QUESTION = "When was the lighthouse built?"


@pytest.fixture
def documents(cast: Cast) -> list[Document]:
    """Five documents of the team, of a chunk each."""
    return [indexed_document(cast.team, text) for text in TEXTS]


def asked(
    cast: Cast, question: str = QUESTION, *, limit: int = 10, settings: RankingSettings = DEFAULT
) -> Ranking:
    """Ask as Alice."""
    return rank(
        principal_of_user(cast.alice), Question(question), limit=limit, settings=settings, payment=UNRECORDED
    )


def texts(ranking: Ranking) -> list[str]:
    """Return the texts of the results."""
    return [found.chunk.text for found in ranking.results]


def test_every_stage_says_what_it_thinks(cast: Cast, documents: list[Document]) -> None:
    best, *others = asked(cast).results
    assert best.chunk.text == TEXTS[0]
    assert best.scores.words == max(found.scores.words or 0 for found in [best, *others])
    assert all(found.scores.vector is not None and found.scores.rerank is not None for found in others)
    assert [found.score for found in [best, *others]] == sorted(
        (found.score for found in [best, *others]), reverse=True
    )


@pytest.mark.parametrize("left_out", ["words", "vector", "rerank"])
def test_a_stage_can_be_left_out(cast: Cast, documents: list[Document], left_out: str) -> None:
    ranking = asked(cast, settings=replace(DEFAULT, **{left_out: 0.0}))
    assert texts(ranking)[0] == TEXTS[0]
    assert not any(getattr(found.scores, left_out) for found in ranking.results)
    assert ranking.reranked is (left_out != "rerank")


def test_words_alone_find_only_what_holds_them(cast: Cast, documents: list[Document]) -> None:
    assert set(texts(asked(cast, "keeper", settings=replace(DEFAULT, vector=0.0)))) == {TEXTS[0], TEXTS[4]}


def test_a_chunk_without_a_vector_is_found_by_its_words(cast: Cast, documents: list[Document]) -> None:
    late = documents[4]
    ChunkVector.objects.filter(chunk__document=late).delete()
    best, *others = asked(cast, "Who needs patience, a smoker and a hat?").results
    assert (best.chunk.document, best.scores.vector) == (late, None)
    assert all(other.scores.vector is not None for other in others)
    assert best.relevance > 0


class Slow(OverlapReranker):
    """Needs longer for its first step than it is given for all."""

    passages_per_step = 2
    budget_secs = 0.05

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Score as its parent does, late."""
        time.sleep(within)
        return super().score(question, passages, within=within, payment=payment)


def test_when_the_time_is_up_the_rest_keeps_its_fused_order(
    cast: Cast, documents: list[Document], monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.RERANKER_BUDGET_MS = 0
    fused = texts(asked(cast, settings=replace(DEFAULT, rerank=0.0)))
    monkeypatch.setattr(candidates, "reranker", Slow)
    ranking = asked(cast)
    assert ranking.reranked == "partial"
    assert ranking.reranked_count == 2
    assert set(texts(ranking)[:2]) == set(fused[:2])
    assert texts(ranking)[2:] == fused[2:]


def test_without_any_time_the_fused_order_is_returned_and_said(
    cast: Cast, documents: list[Document], monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.RERANKER_BUDGET_MS = 0
    fused = texts(asked(cast, settings=replace(DEFAULT, rerank=0.0)))
    monkeypatch.setattr(Slow, "budget_secs", -1.0)
    monkeypatch.setattr(candidates, "reranker", Slow)
    ranking = asked(cast)
    assert ranking.reranked is False
    assert texts(ranking) == fused


def test_a_twin_is_left_out_where_it_is_told_to_be(cast: Cast, documents: list[Document]) -> None:
    indexed_document(cast.team, TEXTS[0] + " ")
    once = replace(DEFAULT, near_duplicates=False)
    assert [text.strip() for text in texts(asked(cast))].count(TEXTS[0]) == 2
    assert [text.strip() for text in texts(asked(cast, settings=once))].count(TEXTS[0]) == 1
    indexed_document(cast.team, TEXTS[0].replace("1772", "1773"))
    assert sum("lighthouse" in text for text in texts(asked(cast, settings=once))) == 2


def test_relevance_tells_an_answer_from_none(cast: Cast, documents: list[Document]) -> None:
    assert asked(cast).results[0].relevance > settings.RELEVANCE_FLOOR
    assert asked(cast, "How is cheese made in the Alps?").results[0].relevance < settings.RELEVANCE_FLOOR


def test_what_answers_is_relevant_in_whichever_words(cast: Cast, documents: list[Document]) -> None:
    def found(**settings: object) -> RankedChunk:
        ranking = asked(cast, "Who erected Kolding's tower?", settings=replace(DEFAULT, **settings))
        return next(each for each in ranking.results if each.chunk.text == TEXTS[1])

    read, unread = found(), found(rerank=0.0)
    assert read.scores.rerank is not None
    assert read.relevance == max(read.scores.rerank, unread.relevance) > unread.relevance


def test_figures_of_tables_are_not_left_to_a_reader_of_prose(cast: Cast, documents: list[Document]) -> None:
    prose, tables = asked(cast), asked(cast, settings=replace(DEFAULT, for_tables=True))
    assert all(0.0 <= (each.scores.rerank or 0.0) <= 1.0 for each in prose.results)
    assert [each.scores.rerank for each in prose.results] != [each.scores.rerank for each in tables.results]


def test_nothing_to_search_is_no_error(cast: Cast) -> None:
    ranking = asked(cast)
    assert ranking.results == []
    assert ranking.total_candidates == 0
    assert ranking.reranked is False
    assert asked(cast, "?!").results == []
