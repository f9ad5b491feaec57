"""Sizes and flaws of chunks by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.reading.tables import Figure
from ingestion.chunk_flaws import FLAWS, chunk_flaws
from kb.chunks import ChunkDraft

PERCENTILES = (1, 5, 25, 50, 75, 95, 100)


def chunk_figures(drafts: Sequence[ChunkDraft]) -> list[Figure]:
    """Return how many chunks have each flaw."""
    counts = Counter(flaw for draft in drafts for flaw in chunk_flaws(draft))
    without = sum(not draft.headings for draft in drafts)
    return [
        *(Figure(f"chunks: {flaw}", counts[flaw], len(drafts)) for flaw in FLAWS),
        Figure("chunks without headings", without, len(drafts)),
    ]


def chunk_sizes(drafts: Iterable[ChunkDraft]) -> dict[int, int]:
    """Return percentiles of the lengths in characters."""
    sizes = sorted(len(draft.located.text) for draft in drafts)
    return {share: sizes[min(len(sizes) * share // 100, len(sizes) - 1)] for share in PERCENTILES if sizes}
