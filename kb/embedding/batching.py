"""Which texts go through a model together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# What a batch more takes, in padded tokens that could be computed meanwhile. Measured: ten to thirty; more of
# them make fewer different shapes.
BATCH_COST = 50


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield the indices of `lengths` (tokens), longest first, in batches of at most `budget` padded tokens.

    Neighbours in length share a batch, and the borders lie where padding and batches cost the least
    together. A text longer than the budget goes alone.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    costs, ends = [0] * (len(order) + 1), [0] * len(order)
    for start in reversed(range(len(order))):
        longest = lengths[order[start]]
        most = max(1, budget // max(1, longest))
        costs[start], ends[start] = min(
            ((end - start) * longest + BATCH_COST + costs[end], end)
            for end in range(start + 1, min(start + most, len(order)) + 1)
        )
    start = 0
    while start < len(order):
        yield order[start : ends[start]]
        start = ends[start]
