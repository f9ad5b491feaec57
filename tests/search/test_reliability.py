"""Whether predicted relevance is true, in bins of questions."""

from __future__ import annotations

import numpy as np
import pytest

from search.evaluation.reliability import bins_of, calibration_error


def test_questions_are_compared_in_bins_of_their_prediction() -> None:
    predicted = np.array([0.05, 0.15, 0.9, 1.0, 0.95, 0.95])
    right = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    low, high = bins_of(predicted, right)
    assert (low.low, low.high, low.count) == (0.0, 0.2, 2)
    assert (high.low, high.high, high.count) == (0.8, 1.0, 4)
    assert low.predicted == pytest.approx(0.1)
    assert (low.right.mean, high.right.mean) == (0.5, 0.75)
    assert high.right.low <= 0.75 <= high.right.high


def test_the_error_is_the_mean_distance_of_what_is_said_and_what_is() -> None:
    bins = bins_of(np.array([0.1, 0.1, 0.9]), np.array([0.0, 0.0, 1.0]))
    assert calibration_error(bins) == pytest.approx(0.1)
    assert calibration_error(bins_of(np.ones(4), np.ones(4))) == 0
