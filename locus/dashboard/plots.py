"""Figures by day as coordinates of a drawing that is one unit a day wide and 100 units high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from locus.dashboard.figures import RunDay


@dataclass(frozen=True, slots=True)
class DayBar:
    """A day of executions as a bar of two parts, completed (and others) below failed; heights of 100."""

    day: RunDay
    lower: str
    upper: str


@dataclass(frozen=True, slots=True)
class RunPlot:
    """How many executions there were each day."""

    bars: tuple[DayBar, ...]
    highest: int
    total: int

    @classmethod
    def of(cls, days: Sequence[RunDay]) -> RunPlot:
        """Scale the days to the busiest of them."""
        highest = max(day.total for day in days)
        unit = highest / 100 or 1
        bars = tuple(
            DayBar(day, f"{(day.completed + day.others) / unit:.2f}", f"{day.failed / unit:.2f}")
            for day in days
        )
        return cls(bars, highest, sum(day.total for day in days))


@dataclass(frozen=True, slots=True)
class LatencyPoint:
    """A day with completed executions: its two points, `x` from the left and `y` from the top."""

    day: date
    x: str
    p50: str
    p95: str


@dataclass(frozen=True, slots=True)
class LatencyPlot:
    """How long executions took: the median, and what all but a twentieth took at most."""

    points: tuple[LatencyPoint, ...]
    highest: float
    """Seconds at the upper edge."""

    @classmethod
    def of(cls, days: Sequence[RunDay]) -> LatencyPlot:
        """Scale the days to the slowest of them; days without completed executions have no points."""
        highest = max((day.p95 or 0.0 for day in days), default=0.0)
        unit = highest / 100 or 1.0
        points = tuple(
            LatencyPoint(
                day.day, f"{at + 0.5:.1f}", f"{100 - day.p50 / unit:.2f}", f"{100 - day.p95 / unit:.2f}"
            )
            for at, day in enumerate(days)
            if day.p50 is not None and day.p95 is not None
        )
        return cls(points, highest)

    @property
    def medians(self) -> str:
        """The line of the medians, as SVG's `points`."""
        return " ".join(f"{point.x},{point.p50}" for point in self.points)

    @property
    def tails(self) -> str:
        """The line of the 95th percentiles, as SVG's `points`."""
        return " ".join(f"{point.x},{point.p95}" for point in self.points)
