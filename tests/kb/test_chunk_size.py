"""What earlier releases have stored without a bound is cut where it is read."""

from __future__ import annotations

from core.locations import InFile, LocatedText, Span
from kb.chunk_size import MOST_CHARS, MOST_HEADING_CHARS, shorten
from kb.models import Chunk


def test_a_stored_chunk_of_a_million_characters_is_read_in_part() -> None:
    """Chunks that were stored before there was a bound must not reach models, answers or clients whole."""
    text = f"A first sentence. {'9' * 1_000_000}"
    spans = [Span(0, 17, InFile(lines=(1, 1))), Span(18, len(text), InFile(lines=(2, 2)))]
    stored = Chunk(
        text=text,
        headings=["9" * 500_000],
        sentences=[[0, 17], [18, len(text)]],
        spans=LocatedText.of_spans(text, spans).dump(),
    )
    chunk = shorten(stored)
    assert (len(chunk.text), len(chunk.headings[0])) == (MOST_CHARS, MOST_HEADING_CHARS)
    assert chunk.sentences == [[0, 17], [18, MOST_CHARS]]
    assert chunk.located.files(18, MOST_CHARS) == [InFile(lines=(2, 2))]


def test_other_chunks_stay_as_they_are() -> None:
    chunk = Chunk(text="Short.", headings=["One", "Two"], sentences=[[0, 6]], spans=[])
    assert shorten(chunk) is chunk
    assert (chunk.text, chunk.headings, chunk.sentences) == ("Short.", ["One", "Two"], [[0, 6]])
