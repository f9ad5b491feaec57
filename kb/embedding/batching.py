"""Groups texts into batches for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# The cost of one more batch, in padded tokens that could be computed meanwhile. Measured: ten to thirty; a
# higher value makes fewer different shapes.
BATCH_COST = 50


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield the indices of `lengths` (tokens), longest first, in batches of at most `budget` padded tokens.

    Texts of similar length share a batch, so that padding and batches together cost least. A text longer than
    the budget is alone.
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
