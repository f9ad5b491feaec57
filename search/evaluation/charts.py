"""Where things stand in the report's charts: shares of width and height in per cent, from the top left.

The pictures are drawn with CSS and stretched SVG, so that they fit a phone without tiny letters; libraries
draw pictures of a fixed size in fixed colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log

import numpy as np

from search.evaluation.metrics import Estimate, Judged, measured, recall

CURVE_TO = 50
MOST_BINS, FEWEST_BINS = 60, 12
ROUND = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Tick:
    """A label on an axis and where it stands."""

    at: str
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A value between 0 and 1 with its interval: where the bar ends, where the whisker starts, how long."""

    label: str
    value: str
    end: str
    low: str
    length: str


@dataclass(frozen=True, slots=True)
class Line:
    """An SVG path in a square of 100 by 100, and what to say about it."""

    label: str
    path: str
    value: str = ""
    median: str = ""
    p95: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines above a common horizontal axis; `ys` may be empty."""

    lines: tuple[Line, ...]
    xs: tuple[Tick, ...]
    ys: tuple[Tick, ...] = ()


def bar(label: str, estimate: Estimate) -> Bar:
    """Return the bar of a mean."""
    return Bar(
        label,
        f"{estimate.mean:.3f}",
        _percent(estimate.mean),
        _percent(estimate.low),
        _percent(estimate.high - estimate.low),
    )


def recall_curves(stages: Iterable[tuple[str, Sequence[Judged]]]) -> Chart:
    """Return recall over the number of results, which has a logarithmic axis: the first ones matter most."""
    ks = range(1, CURVE_TO + 1)
    curves = {
        label: [float(measured(lambda one, k=k: recall(one, k), judged).mean()) for k in ks]  # type: ignore[misc]
        for label, judged in stages
    }
    bottom = floor(min(curve[0] for curve in curves.values()) * 10) / 10

    def height(value: float) -> float:
        return 1 - (value - bottom) / (1.001 - bottom)

    lines = tuple(
        Line(label, _path((log(k) / log(CURVE_TO), height(y)) for k, y in zip(ks, curve, strict=True)))
        for label, curve in curves.items()
    )
    ys = [bottom + (1 - bottom) * step / 4 for step in range(5)]
    return Chart(
        lines,
        _ticks(1, CURVE_TO),
        tuple(Tick(_percent(height(y)), f"{y:.2f}") for y in ys),
    )


def latencies(stages: Iterable[tuple[str, Sequence[float]]]) -> Chart:
    """Return how the milliseconds of each stage are distributed, on a common logarithmic axis."""
    times = {label: np.maximum(np.asarray(values), 0.01) for label, values in stages}
    low = min(float(values.min()) for values in times.values()) / 1.1
    high = max(float(values.max()) for values in times.values()) * 1.1

    def across(value: float) -> float:
        return log(value / low) / log(high / low)

    lines = []
    for label, values in times.items():
        bins = min(MOST_BINS, max(FEWEST_BINS, int(2 * len(values) ** 0.5)))
        counts, edges = np.histogram(values, np.geomspace(low, high, bins + 1))
        middles = np.sqrt(edges[:-1] * edges[1:])
        tops = 1 - counts / counts.max()
        points = [(0.0, 1.0), *((across(x), y) for x, y in zip(middles, tops, strict=True)), (1.0, 1.0)]
        median, p95 = (float(np.quantile(values, share)) for share in (0.5, 0.95))
        text = f"{milliseconds(median)}, p95 {milliseconds(p95)}"
        lines.append(Line(label, _path(points) + "Z", text, _percent(across(median)), _percent(across(p95))))
    return Chart(tuple(lines), _ticks(low, high, "ms"))


def milliseconds(value: float) -> str:
    """Return a time with two or three digits."""
    return f"{value / 1000:.2g} s" if value >= 1000 else f"{value:.3g} ms"


def _ticks(low: float, high: float, unit: str = "") -> tuple[Tick, ...]:
    """Return the round numbers on a logarithmic axis, at most eight of them."""
    numbers = [digit * 10.0**power for power in range(-3, 7) for digit in ROUND]
    shown = [number for number in numbers if low <= number <= high]
    if len(shown) > 8:
        shown = [number for number in shown if str(number)[0] == "1" or f"{number:g}"[0] == "1"]
    return tuple(
        Tick(_percent(log(number / low) / log(high / low)), milliseconds(number) if unit else f"{number:g}")
        for number in shown
    )


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x * 100:.2f} {y * 100:.2f}" for x, y in points)


def _percent(share: float) -> str:
    return f"{share * 100:.2f}%"
