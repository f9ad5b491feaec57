"""What every reranker must do; a new entry of the registry is tested by being there."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test.utils import override_settings

from search.rerank import RERANKERS, Reranker, load
from tests.testing.payments import UNRECORDED
from tests.testing.rerankers import JudgeEndpoint, RerankEndpoint, make_cross_encoder

QUESTION = "When was the old lighthouse built?"
PASSAGES = [
    "Bread is baked from flour, water and salt.",
    "The old lighthouse was built in 1893.",
    "",
    "Interest rates rose in May. " * 300,
    "水は四画で書く。",
]
# Random weights know nothing.
UNDERSTAND_NOTHING = {"cross-encoder"}


@pytest.fixture(scope="module", params=sorted(RERANKERS))
def reranker(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: Any,
) -> Iterator[Reranker]:
    """Each reranker with what it needs, offline."""
    with ExitStack() as stack:
        model, url = "", ""
        if request.param == "cross-encoder":
            model = str(make_cross_encoder(tmp_path_factory.mktemp("models") / "tiny"))
        elif request.param == "endpoint":
            url = stack.enter_context(RerankEndpoint()).url
        elif request.param == "llm":
            model, url = "judge", stack.enter_context(JudgeEndpoint()).url
        stack.enter_context(override_settings(RERANKER_BASE_URL=url))
        # The model that judges may be one that is connected, which the database knows.
        stack.enter_context(django_db_blocker.unblock())
        loaded = load(request.param, model)
        assert loaded is not None
        yield loaded


def later(secs: float = 60.0) -> float:
    return time.monotonic() + secs


def test_every_passage_gets_a_finite_score(reranker: Reranker) -> None:
    scores = reranker.rerank(QUESTION, PASSAGES, deadline=later(), payment=UNRECORDED)
    assert len(scores) == len(PASSAGES)
    assert all(isinstance(score, float) and math.isfinite(score) for score in scores)


def test_the_passage_that_answers_is_the_best(reranker: Reranker, request: pytest.FixtureRequest) -> None:
    scores = reranker.rerank(QUESTION, PASSAGES, deadline=later(), payment=UNRECORDED)
    best = max(range(len(PASSAGES)), key=lambda index: scores[index] or 0.0)
    assert best == 1 or request.node.callspec.params["reranker"] in UNDERSTAND_NOTHING


def test_it_is_deterministic_and_company_does_not_matter(reranker: Reranker) -> None:
    scores = reranker.rerank(QUESTION, PASSAGES, deadline=later(), payment=UNRECORDED)
    assert reranker.rerank(QUESTION, PASSAGES[::-1], deadline=later(), payment=UNRECORDED)[
        ::-1
    ] == pytest.approx(scores, abs=0.02)
    alone = [
        reranker.rerank(QUESTION, [passage], deadline=later(), payment=UNRECORDED)[0] for passage in PASSAGES
    ]
    assert alone == pytest.approx(scores, abs=0.02)


def test_no_passages_get_no_scores(reranker: Reranker) -> None:
    assert reranker.rerank(QUESTION, [], deadline=later(), payment=UNRECORDED) == []


def test_many_passages_are_scored_in_steps(reranker: Reranker) -> None:
    passages = [f"passage number {n}" for n in range(3 * reranker.passages_per_step + 1)]
    scores = reranker.rerank(QUESTION, passages, deadline=later(), payment=UNRECORDED)
    assert None not in scores
    assert len(scores) == len(passages)


def test_without_time_nothing_is_scored(reranker: Reranker) -> None:
    assert reranker.rerank(QUESTION, PASSAGES, deadline=later(-1), payment=UNRECORDED) == [None] * len(
        PASSAGES
    )


@pytest.mark.parametrize("question", ["?", "…", "水", "a " * 1000])
def test_any_question_can_be_asked(reranker: Reranker, question: str) -> None:
    scores = reranker.rerank(question, PASSAGES[:2], deadline=later(), payment=UNRECORDED)
    assert all(score is not None and math.isfinite(score) for score in scores)


def test_it_describes_itself_in_one_line(reranker: Reranker) -> None:
    assert reranker.name in reranker.describe()
    assert "\n" not in reranker.describe()
    assert reranker.passages_per_step > 0
    assert reranker.passages > 0
    assert reranker.budget_secs > 0


def test_an_unknown_reranker_is_a_clear_error() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"RERANKER must be one of auto, none, .* “best”"):
        load("best", "")


@pytest.mark.parametrize("name", ["endpoint", "llm", "cross-encoder"])
def test_what_is_missing_is_a_clear_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"RERANKER_(BASE_URL|MODEL)"):
        load(name, str(tmp_path / "nothing") if name == "cross-encoder" else "model")
