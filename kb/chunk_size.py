"""The maximal length of a chunk in characters, for any tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.locations import LocatedText

if TYPE_CHECKING:
    from kb.models import Chunk

MOST_CHARS = 4000
"""Three times the length of 256 tokens of running text."""
MOST_HEADING_CHARS = 1000
"""Of a chunk's whole heading path."""


def shorten(chunk: Chunk) -> Chunk:
    """Return a chunk for reading, cut if an earlier release stored a longer one.

    The rest keeps its sentences and places. Nothing is saved.
    """
    if sum(map(len, chunk.headings)) > MOST_HEADING_CHARS:
        chunk.headings = [heading[:MOST_HEADING_CHARS] for heading in chunk.headings[-1:]]
    if len(chunk.text) > MOST_CHARS:
        located = LocatedText.load(chunk.text, chunk.spans).slice(0, MOST_CHARS)
        chunk.text, chunk.spans = located.text, located.dump()
        chunk.sentences = [
            [start, min(end, MOST_CHARS)] for start, end in chunk.sentences if start < MOST_CHARS
        ]
    return chunk
