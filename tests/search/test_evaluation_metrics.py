"""The measures, against values worked out by hand, and what must hold for every ranking."""

from __future__ import annotations

import random
from itertools import permutations
from math import log2

import numpy as np
import pytest

from search.evaluation.metrics import (
    MEASURES,
    Judged,
    estimate,
    hit,
    measure_all,
    ndcg,
    recall,
    reciprocal_rank,
)


def judged(*ranks: int | None, gains: tuple[float, ...] | None = None) -> Judged:
    return Judged(ranks, gains or (1.0,) * len(ranks))


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (judged(1), 1.0),
        (judged(2), 1 / log2(3)),
        (judged(10), 1 / log2(11)),
        (judged(11), 0.0),
        (judged(None), 0.0),
        (judged(1, None), 1 / (1 + 1 / log2(3))),
        (judged(3, 1), (1 + 0.5) / (1 + 1 / log2(3))),
        # Järvelin and Kekäläinen's point: the better one should come first.
        (judged(2, 1, gains=(3.0, 1.0)), (1 + 3 / log2(3)) / (3 + 1 / log2(3))),
        (judged(1, 2, gains=(3.0, 1.0)), 1.0),
        (judged(1, 1), 1.0),
    ],
)
def test_ndcg(one: Judged, expected: float) -> None:
    assert ndcg(one, 10) == pytest.approx(expected)


def test_ndcg_is_ideal_when_the_first_k_are_all_relevant() -> None:
    assert ndcg(judged(*range(1, 21)), 10) == pytest.approx(1.0)


def test_the_others() -> None:
    one = judged(4, None, 12)
    assert recall(one, 3) == 0
    assert recall(one, 10) == pytest.approx(1 / 3)
    assert recall(one, 50) == pytest.approx(2 / 3)
    assert reciprocal_rank(one, 10) == 0.25
    assert reciprocal_rank(one, 3) == 0
    assert (hit(one, 3), hit(one, 4)) == (0, 1)


def test_no_order_of_the_judgements_matters_and_all_stay_between_0_and_1() -> None:
    for ranks in permutations([1, 7, 30, None]):
        paired = judged(*ranks, gains=tuple(float(rank or 2) for rank in ranks))
        for measure in MEASURES.values():
            sorted_first = judged(1, 7, 30, None, gains=(1.0, 7.0, 30.0, 2.0))
            assert measure(paired) == pytest.approx(measure(sorted_first))
            assert 0 <= measure(paired) <= 1


def test_an_earlier_rank_is_never_worse() -> None:
    chance = random.Random(0)
    for _ in range(200):
        ranks = [chance.choice([None, *range(1, 60)]) for _ in range(4)]
        better = [rank - 1 if rank and rank > 1 else rank for rank in ranks]
        for measure in MEASURES.values():
            assert measure(judged(*better)) >= measure(judged(*ranks))


def test_the_perfect_ranking_is_perfect_in_all() -> None:
    assert {measure(judged(1)) for measure in MEASURES.values()} == {1.0}


# --- Confidence --------------------------------------------------------------------------------------------


def test_an_interval_is_that_of_the_mean() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)
    found = estimate(values)
    error = 1.96 * values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - error, abs=0.002)
    assert found.high == pytest.approx(values.mean() + error, abs=0.002)
    assert estimate(values) == found


def test_equal_values_leave_no_doubt() -> None:
    found = estimate(np.full(10, 0.25))
    assert [found.mean, found.low, found.high] == pytest.approx([0.25] * 3)


def test_each_set_counts_the_same() -> None:
    assert estimate(np.ones(1000), np.zeros(10)).mean == 0.5


def test_differences_are_those_of_paired_queries() -> None:
    base = np.random.default_rng(2).random(50)
    assert estimate(base + 0.01 - base).low == pytest.approx(0.01)


def test_values_come_query_by_query() -> None:
    assert measure_all(MEASURES["hit@1"], [judged(1), judged(2)]).tolist() == [1, 0]
