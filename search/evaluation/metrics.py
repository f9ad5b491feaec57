"""Measures of a ranking, and confidence intervals of their means.

A ranking is described by its targets: `ranks[i]` is the rank, from 1, at which target i is first met, None if
never, and `gains[i]` is its relevance. If each target is one document, this is what trec_eval computes; a
repeated target occupies a rank and gains nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import log2

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000
SEED = 0
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Judged:
    """The ranks at which the targets of one query were met, and their gains; of equal length, at least 1."""

    ranks: tuple[int | None, ...]
    gains: tuple[float, ...]

    @property
    def first(self) -> int | None:
        """The rank of the first relevant result."""
        return min((rank for rank in self.ranks if rank is not None), default=None)


def ndcg(judged: Judged, k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k (Järvelin and Kekäläinen, 2002).

    sum(gain / log2(1 + rank)) over that of the ideal order; at most 1, also if one chunk meets two targets.
    """
    found = sum(
        gain / log2(1 + rank)
        for rank, gain in zip(judged.ranks, judged.gains, strict=True)
        if rank is not None and rank <= k
    )
    best = sorted(judged.gains, reverse=True)[:k]
    ideal = sum(gain / log2(1 + rank) for rank, gain in enumerate(best, start=1))
    return min(1.0, found / ideal)


def recall(judged: Judged, k: int) -> float:
    """Return the share of the targets that are met within the first k."""
    return sum(rank is not None and rank <= k for rank in judged.ranks) / len(judged.ranks)


def reciprocal_rank(judged: Judged, k: int) -> float:
    """Return 1 / the rank of the first relevant result, 0 beyond the first k; its mean is the MRR."""
    first = judged.first
    return 1 / first if first is not None and first <= k else 0.0


def hit(judged: Judged, k: int) -> float:
    """Return 1 if anything relevant is within the first k, else 0."""
    return float(judged.first is not None and judged.first <= k)


Measure = Callable[[Judged], float]

MEASURES: Mapping[str, Measure] = {
    "nDCG@10": partial(ndcg, k=10),
    "MRR@10": partial(reciprocal_rank, k=10),
    "recall@10": partial(recall, k=10),
    "recall@50": partial(recall, k=50),
    "hit@1": partial(hit, k=1),
    "hit@5": partial(hit, k=5),
    "hit@10": partial(hit, k=10),
}


def measure_all(measure: Measure, judged: Sequence[Judged]) -> Floats:
    """Return a measure's value for each query, shape (queries,)."""
    return np.array([measure(one) for one in judged])


# --- Confidence --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def estimate(*sets: Floats) -> Estimate:
    """Return the mean of the sets' means, each of shape (queries,), with its percentile bootstrap interval.

    Queries are drawn again within their set (Efron and Tibshirani, 1993, ch. 13), with a fixed seed: two
    calls over the same queries draw the same, so differences are those of paired queries.
    """
    means = np.mean([_draws(len(values), number) @ values for number, values in enumerate(sets)], axis=0)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Estimate(float(np.mean([values.mean() for values in sets])), float(low), float(high))


@lru_cache(maxsize=8)
def _draws(size: int, number: int) -> Floats:
    """Return how often each of `size` queries is drawn, as shares; shape (RESAMPLES, size)."""
    generator = np.random.default_rng([SEED, number])
    return generator.multinomial(size, np.full(size, 1 / size), RESAMPLES) / size
