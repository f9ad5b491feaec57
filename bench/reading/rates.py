"""Counts for each page, with an interval."""

from __future__ import annotations

import random
from typing import NamedTuple

DRAWS, SEED = 1000, 17


class Rate(NamedTuple):
    """How often something occurs for 100 pages; `counts` has an entry for each page."""

    name: str
    counts: tuple[int, ...]

    @property
    def per_hundred(self) -> float:
        """The mean, 0 of no pages."""
        return 100 * sum(self.counts) / max(len(self.counts), 1)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval by drawing as many pages again and again, always in the same way."""
        if not self.counts:
            return 0.0, 0.0
        draw = random.Random(SEED)  # noqa: S311
        size = len(self.counts)
        means = sorted(100 * sum(draw.choices(self.counts, k=size)) / size for _ in range(DRAWS))
        return means[DRAWS // 40], means[-DRAWS // 40 - 1]
