"""Combines the scores of several searches into one order, and estimates a passage's relevance.

Fused scores compare the candidates of one question only. `relevance` looks at one passage alone, so it can
show that none is relevant. Figures and rejected alternatives: docs/adr/0014-ranking.md.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]

FUSED_SHARE = 0.75
"""The weight of the fused score against that of a reranker, which sees no other documents."""

# Fitted by logistic regression to pairs of questions and passages: docs/adr/0014-ranking.md.
_COSINE, _COVERAGE, _BIAS = 16.0, 10.0, -10.0


def fuse(*searches: tuple[float, ArrayLike]) -> Scores:
    """Return the weighted sum of each search's standard scores, all of shape (candidates,).

    Each search comes as its weight and its scores. NaN is a candidate that it could not score.
    """
    fused: Scores = sum((weight * standardise(scores) for weight, scores in searches), np.zeros(()))
    return fused


def fuse_reranked(fused: ArrayLike, reranked: ArrayLike) -> Scores:
    """Return scores that put the reranked candidates, in their new order, before all others in their old one.

    Both are of shape (candidates,); `reranked` is NaN for candidates that the reranker did not reach.
    """
    before, after = np.asarray(fused, dtype=np.float64), np.asarray(reranked, dtype=np.float64)
    scored = ~np.isnan(after)
    scores: Scores = before - before.max(initial=0.0)
    if scored.any():
        scores[scored] = FUSED_SHARE * standardise(before[scored]) + standardise(after[scored])
        lowest = scores[scored].min()
        scores[~scored] += min(0.0, lowest) - 1.0
    return scores


def standardise(scores: ArrayLike) -> Scores:
    """Return z-scores, (score - mean) / standard deviation: all 0 without spread, the lowest for NaN."""
    given = np.asarray(scores, dtype=np.float64)
    known = given[~np.isnan(given)]
    if not known.size or known.min() == known.max():
        return np.zeros_like(given)
    standard: Scores = (np.where(np.isnan(given), known.min(), given) - known.mean()) / known.std()
    return standard


def relevance(cosine: float, covered: float) -> float:
    """Return the probability, 0 to 1, that a passage is about the question.

    `cosine` is that of question and passage, `covered` the share of the question's weight that it has.
    """
    return 1.0 / (1.0 + exp(-(_COSINE * cosine + _COVERAGE * covered + _BIAS)))
