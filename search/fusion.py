"""Combines the scores of several searches into one order.

Fused scores compare the candidates of one question only. Their weights belong to the embedding model
(`kb/embedding/calibration.py`). Figures and rejected alternatives: docs/adr/0014-ranking.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]


def fuse(*searches: tuple[float, ArrayLike]) -> Scores:
    """Return the weighted sum of each search's standard scores, all of shape (candidates,).

    Each search comes as its weight and its scores. NaN is a candidate that it could not score.
    """
    fused: Scores = sum((weight * standardise(scores) for weight, scores in searches), np.zeros(()))
    return fused


def fuse_reranked(fused: ArrayLike, reranked: ArrayLike, fused_share: float) -> Scores:
    """Return scores that put the reranked candidates, in their new order, before all others in their old one.

    Both are of shape (candidates,); `reranked` is NaN for candidates that the reranker did not reach. The
    fused score weighs `fused_share`, that of the reranker 1.
    """
    before, after = np.asarray(fused, dtype=np.float64), np.asarray(reranked, dtype=np.float64)
    scored = ~np.isnan(after)
    scores: Scores = before - before.max(initial=0.0)
    if scored.any():
        scores[scored] = fused_share * standardise(before[scored]) + standardise(after[scored])
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
