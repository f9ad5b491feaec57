"""Where the time of a search goes."""

from __future__ import annotations

from time import perf_counter


class StageTimer:
    """Seconds spent in each stage, and in all."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self.timings: dict[str, float] = {}

    def mark(self, stage: str) -> None:
        """Close a stage."""
        now = perf_counter()
        self.timings |= {stage: round(now - self._last, 4), "total": round(now - self._start, 4)}
        self._last = now
