"""Are the product's probabilities true? Of the results said to be relevant with 0.8, eight in ten should be.

The first result of each question has a predicted relevance, by which the product decides whether it answers
at all (`RELEVANCE_FLOOR`). Questions are put into bins by it; in each bin it is compared with the share of
first results that are relevant indeed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.evaluation.metrics import Estimate, Floats, estimate

BINS = 5


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Questions with a predicted relevance from `low` to `high`: its mean, and the share that is right."""

    low: float
    high: float
    count: int
    predicted: float
    right: Estimate


def bins_of(predicted: Floats, right: Floats) -> list[ReliabilityBin]:
    """Return the bins of equal width that are not empty, of predictions 0 to 1 and outcomes 0 or 1."""
    places = np.minimum((predicted * BINS).astype(int), BINS - 1)
    return [
        ReliabilityBin(
            place / BINS,
            (place + 1) / BINS,
            int((places == place).sum()),
            float(predicted[places == place].mean()),
            estimate(right[places == place]),
        )
        for place in sorted(set(places.tolist()))
    ]


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Return the expected calibration error: the mean distance of both shares, weighted by questions."""
    count = sum(each.count for each in bins)
    return sum(each.count * abs(each.predicted - each.right.mean) for each in bins) / count
