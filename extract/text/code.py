"""Source code, verbatim, divided at blank lines before lines of the outermost indentation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.locations import InFile
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.places import element
from extract.text.plain import Numbered, read_text

# A longer function is cut at a blank line, or else anywhere; this is about one chunk.
MOST_LINES = 40
# Shorter pieces (imports, constants) are merged with the next one.
FEWEST_LINES = 6
CLOSING = (")", "]", "}", "end", "fi", "done", "esac")


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the pieces of a program with their lines; raise `Empty` or `UnsupportedType`."""
    text = read_text(path)
    yield Opened("code", "text/x-source")
    yield from code_elements(text)
    yield UnitRead(1, TextOrigin.TEXT)


def code_elements(text: str, first_line: int = 1) -> Iterator[Element]:
    """Yield pieces of source code as paragraphs that keep their line breaks and indentation."""
    lines = list(enumerate(text.expandtabs(4).split("\n"), start=first_line))
    for piece in _merge_short(part for block in _blocks(lines) for part in _parts(block)):
        content = "\n".join(line.rstrip() for _, line in piece)
        yield element(Kind.PARAGRAPH, content, InFile(lines=(piece[0][0], piece[-1][0])))


def _blocks(lines: list[Numbered]) -> Iterator[list[Numbered]]:
    """Split before each outermost line that follows a blank one and does not only close a bracket."""
    block: list[Numbered] = []
    after_blank = False
    for number, line in lines:
        is_outermost = bool(line) and not line[0].isspace() and not line.startswith(CLOSING)
        if block and after_blank and is_outermost:
            yield block
            block = []
        after_blank = not line.strip()
        block.append((number, line))
    yield block


def _parts(block: list[Numbered]) -> Iterator[list[Numbered]]:
    """Cut a block that is too long, at its last blank line if that is far enough down."""
    while len(block) > MOST_LINES:
        blanks = (at for at in range(MOST_LINES, MOST_LINES // 2, -1) if not block[at][1].strip())
        cut = next(blanks, MOST_LINES)
        yield block[:cut]
        block = block[cut:]
    yield block


def _merge_short(parts: Iterator[list[Numbered]]) -> Iterator[list[Numbered]]:
    """Merge short pieces, without the blank lines around them."""
    piece: list[Numbered] = []
    for part in parts:
        if len(piece) >= FEWEST_LINES or len(piece) + len(part) > MOST_LINES:
            yield from _strip_blank_lines(piece)
            piece = []
        piece += part
    yield from _strip_blank_lines(piece)


def _strip_blank_lines(piece: list[Numbered]) -> Iterator[list[Numbered]]:
    filled = [at for at, (_, line) in enumerate(piece) if line.strip()]
    if filled:
        yield piece[filled[0] : filled[-1] + 1]
