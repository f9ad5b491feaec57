"""From the scores of several searches to one order, and to how relevant a passage is at all.

Fused scores compare the candidates of one question with each other and mean nothing beyond it. `relevance`
looks at one passage alone, so that it can say that none is relevant. Figures and what was tried besides:
docs/adr/0014-ranking.md.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]

FUSED_SHARE = 0.75
"""What the fused score weighs beside that of a reranker, which knows nothing of the whole collection."""

# Fitted by logistic regression to pairs of questions and passages: docs/adr/0014-ranking.md.
_COSINE, _COVERAGE, _BIAS = 16.0, 10.0, -10.0


def fuse(*searches: tuple[float, ArrayLike]) -> Scores:
    """Return the weighted sum of each search's standard scores, all of shape (candidates,).

    Each search comes as its weight and its scores. NaN is a candidate that it could not score.
    """
    fused: Scores = sum((weight * standardised(scores) for weight, scores in searches), np.zeros(()))
    return fused


def fuse_reranked(fused: ArrayLike, reranked: ArrayLike) -> Scores:
    """Return scores that put the reranked candidates, in their new order, before all others in their old one.

    Both are of shape (candidates,); `reranked` is NaN where the reranker did not come to a candidate.
    """
    before, after = np.asarray(fused, dtype=np.float64), np.asarray(reranked, dtype=np.float64)
    scored = ~np.isnan(after)
    scores: Scores = before - before.max(initial=0.0)
    if scored.any():
        scores[scored] = FUSED_SHARE * standardised(before[scored]) + standardised(after[scored])
        lowest = scores[scored].min()
        scores[~scored] += min(0.0, lowest) - 1.0
    return scores


def standardised(scores: ArrayLike) -> Scores:
    """Return z-scores, (score - mean) / standard deviation: all 0 without spread, the lowest for NaN."""
    given = np.asarray(scores, dtype=np.float64)
    known = given[~np.isnan(given)]
    if not known.size or known.min() == known.max():
        return np.zeros_like(given)
    standard: Scores = (np.where(np.isnan(given), known.min(), given) - known.mean()) / known.std()
    return standard


def relevance(cosine: float, covered: float) -> float:
    """Return how likely it is, 0 to 1, that a passage is about what is asked.

    `cosine` is that of question and passage, `covered` the share of the question's weight that it has.
    """
    return 1.0 / (1.0 + exp(-(_COSINE * cosine + _COVERAGE * covered + _BIAS)))
