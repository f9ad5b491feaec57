"""Fusion and relevance: orders on paper."""

from __future__ import annotations

import numpy as np
import pytest
from django.conf import settings

from kb.embedding.calibration import CALIBRATIONS, MINILM, calibration_of
from search.fusion import fuse, fuse_reranked, standardise

NAN = float("nan")
SHARE = 0.75


def test_scales_do_not_matter() -> None:
    words, vector = [12.0, 3.0, 0.0], [0.2, 0.6, 0.1]
    fused = fuse((1, words), (1, vector))
    np.testing.assert_allclose(fuse((1, np.array(words) * 100 + 7), (1, vector)), fused)
    assert fused.argmin() == 2


def test_margins_matter_where_ranks_would_tie() -> None:
    assert fuse((1, [10.0, 1.0, 0.9]), (1, [0.50, 0.51, 0.49])).argmax() == 0


def test_a_weight_of_nothing_leaves_a_search_out() -> None:
    np.testing.assert_allclose(fuse((2, [3.0, 1.0]), (0, [1.0, 9.0])), 2 * standardise([3.0, 1.0]))


def test_what_a_search_could_not_score_counts_as_its_lowest() -> None:
    standard = standardise([3.0, 1.0, NAN])
    assert standard.tolist() == [1.0, -1.0, -1.0]
    assert np.isfinite(fuse((1, [3.0, 1.0, NAN]), (1, [0.1, NAN, 0.9]))).all()


@pytest.mark.parametrize("scores", [[1.0, 1.0], [0.1, 0.1, 0.1], [NAN, NAN], [5.0], []])
def test_a_search_without_spread_decides_nothing(scores: list[float]) -> None:
    np.testing.assert_array_equal(fuse((1, scores)), np.zeros(len(scores)))


def test_the_reranked_come_first() -> None:
    fused = [5.0, 4.0, 3.0, 2.0, 1.0]
    scores = fuse_reranked(fused, [0.1, 0.9, 0.2, NAN, NAN], SHARE)
    assert np.argsort(-scores).tolist() == [1, 0, 2, 3, 4]


def test_a_reranker_that_did_not_run_changes_no_order() -> None:
    fused = [0.3, -1.0, 2.0]
    assert np.argsort(-fuse_reranked(fused, [NAN] * 3, SHARE)).tolist() == [2, 0, 1]
    assert fuse_reranked([], [], SHARE).shape == (0,)


def test_one_reranked_passage_stays_first() -> None:
    assert fuse_reranked([1.0, 3.0, 2.0], [NAN, -9.0, NAN], SHARE).argmax() == 1


def test_relevance_tells_nothing_from_something() -> None:
    relevance = MINILM.relevance
    assert relevance(0.2, 0.2) < 0.01 < settings.RELEVANCE_FLOOR
    assert relevance(0.6, 0.8) > 0.9
    assert relevance(0.2, 1.0) > settings.RELEVANCE_FLOOR, (
        "an identifier that is there, in a text of another kind"
    )
    assert relevance(0.65, 0.0) > settings.RELEVANCE_FLOOR, "other words, the same meaning"
    assert all(0.0 <= relevance(c, v) <= 1.0 for c in (-1.0, 0.0, 1.0) for v in (0.0, 1.0))


@pytest.mark.parametrize("name", sorted(CALIBRATIONS))
def test_each_model_has_a_scale_of_its_own(name: str) -> None:
    model = calibration_of(name)
    assert model.relevance(model.unrelated, 0.0) < 0.01 < settings.RELEVANCE_FLOOR
    assert model.relevance(0.98, 0.9) > 0.9
    assert model.similarity(model.unrelated) == 0.0
    assert model.similarity_of_texts(1.0) == pytest.approx(1.0)
    np.testing.assert_allclose(
        model.similarity_of_texts(np.array([model.unrelated_texts, 1.0], np.float32)), [0.0, 1.0], atol=1e-6
    )


def test_a_model_that_was_never_measured_takes_the_constants_of_minilm() -> None:
    assert calibration_of("some/other-model") is MINILM
