"""Source code, verbatim, divided at its definitions.

Where the language is unknown, it is divided at blank lines before lines of the outermost indentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from core.locations import InFile, LocatedText
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.places import locate_text
from extract.text.definitions import Definition, definitions_of
from extract.text.plain import Numbered, read_text

# A longer function is cut at a blank line, or else anywhere; this is about one chunk.
MOST_LINES = 40
# Shorter pieces (imports, constants) are merged with the next one.
FEWEST_LINES = 6
DEEPEST_LABEL = 9
# Shorter definitions stay together, below the name of what holds them.
FEWEST_NAMED = 3
CLOSING = (")", "]", "}", "end", "fi", "done", "esac")


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the pieces of a program with their lines; raise `Empty` or `UnsupportedType`."""
    text = read_text(path)
    yield Opened("code", "text/x-source")
    definitions = () if request.safe_mode else definitions_of(text, request.suffix)
    yield from _by_definition(text, definitions) if definitions else code_elements(text)
    yield UnitRead(1, TextOrigin.TEXT)


def code_elements(text: str, first_line: int = 1) -> Iterator[Element]:
    """Yield pieces of source code as paragraphs that keep their line breaks and indentation."""
    yield from _elements(_numbered(text, first_line))


def _numbered(text: str, first_line: int = 1) -> list[Numbered]:
    return list(enumerate(text.expandtabs(4).split("\n"), start=first_line))


def _elements(lines: list[Numbered]) -> Iterator[Element]:
    for piece in _merge_short(part for block in _blocks(lines) for part in _parts(block)):
        yield _piece(piece)


def _piece(lines: list[Numbered]) -> Element:
    """Return lines as a paragraph in which each line knows its number."""
    located = (locate_text(line.rstrip(), InFile(lines=(number, number))) for number, line in lines)
    return Element(Kind.PARAGRAPH, LocatedText.join(located, "\n"))


# --- By definition -----------------------------------------------------------------------------------------

Names = tuple[str, ...]
"""A definition's name, after those of the definitions around it."""


def _by_definition(text: str, definitions: Sequence[Definition]) -> Iterator[Element]:
    """Yield the pieces of a program, each below the names of the definition that it belongs to."""
    lines = _numbered(text)
    before: Names = ()
    for names, group in groupby(_ranges(definitions, 1, len(lines), ()), key=itemgetter(0)):
        stretches = [lines[first - 1 : last] for _, first, last in group]
        pieces = [piece for lines_of in stretches for piece in _whole(lines_of)]
        if not any(line.strip() for piece in pieces for _, line in piece):
            continue
        yield from _labels(before, names)
        before = names
        for piece in _merge_short(iter(pieces)):
            yield _piece(piece)


def _ranges(
    definitions: Sequence[Definition], first: int, last: int, names: Names
) -> Iterator[tuple[Names, int, int]]:
    """Yield stretches of lines that cover `first` to `last`, each with the names that it belongs to."""
    for definition in definitions:
        if definition.first < first:
            continue  # on one line with what is before
        if definition.first > first:
            yield names, first, definition.first - 1
        own, size = (*names, definition.name), definition.last - definition.first + 1
        if size > MOST_LINES and definition.inner:
            yield from _ranges(definition.inner, definition.first, definition.last, own)
        else:
            yield own if size >= FEWEST_NAMED else names, definition.first, definition.last
        first = definition.last + 1
    if first <= last:
        yield names, first, last


def _whole(lines: list[Numbered]) -> Iterator[list[Numbered]]:
    """Yield a stretch without the blank lines around it, cut only if it is too long."""
    for piece in _strip_blank_lines(lines):
        yield from _parts(piece)


def _labels(before: Names, names: Names) -> Iterator[Element]:
    """Yield headings that lead from the names before to other ones; a blank one leaves all."""
    shared = next(
        (at for at, pair in enumerate(zip(before, names, strict=False)) if len(set(pair)) > 1), None
    )
    shared = min(len(before), len(names)) if shared is None else shared
    if shared == len(names) < len(before):
        yield _label(names[-1] if names else "", max(len(names), 1))
    for level, name in enumerate(names[shared:], start=shared + 1):
        yield _label(name, level)


def _label(name: str, level: int) -> Element:
    return Element(Kind.HEADING, locate_text(name), min(level, DEEPEST_LABEL), is_label=True)


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
