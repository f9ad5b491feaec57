"""Plain text: headings, paragraphs, list items and tables with their lines."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.locations import InFile, LocatedText
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.cleaning import clean
from extract.entries import paragraphs
from extract.errors import Empty, UnsupportedType
from extract.grids import row_groups
from extract.places import element, fold_spaces, locate_text
from extract.sniffing import encoding_of
from extract.tables import EMPTY
from extract.text import charsets as charsets
from extract.text.drawn import DrawnRow, DrawnTable, tables_of
from extract.text.drawn.cells import is_rule
from extract.text.titles import Title, titles_of

LIST_ITEM = re.compile(r"(?<!\s)\s*+([-*+•]|\d{1,3}[.)])\s++\S")
# Codecs that only Python knows, some of them extremely slow.
NO_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7"})
WESTERN = {"iso8859-1": "cp1252", "ascii": "cp1252"}
GUESSED_FROM = 256 * 2**10
LIKE_WESTERN = frozenset({"cp1250", "cp1257", "cp775", "cp852", "mac_latin2", "iso8859_10", "iso8859_4"})
AS_GOOD = 0.05
MOST_LINES = 100_000
"""Behind so many, no headings and tables are looked for: a text so long is data, and has a limited time."""

Numbered = tuple[int, str]
"""A line and its number, from 1."""


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the file's paragraphs; raise `UnsupportedType` if it is not text, `Empty` if it is blank."""
    text = read_text(path)
    yield Opened("txt", "text/plain")
    tables = 0
    for found in paragraphs_of(text) if request.safe_mode else plain_elements(text):
        tables += found.kind is Kind.TABLE
        yield found
    yield UnitRead(1, TextOrigin.TEXT, tables=tables)


def read_text(path: Path) -> str:
    """Return a file as text in its most probable encoding; raise `Empty` or `UnsupportedType`."""
    text = decode(path.read_bytes())
    if not text.strip():
        raise Empty
    return text


def decode(content: bytes) -> str:
    """Return bytes as text in their most probable encoding, with line feeds as line ends; raise
    `UnsupportedType`."""
    return clean(_decode_guessed(content)).replace("\r\n", "\n").replace("\r", "\n")


def decode_as(content: bytes, declared: str) -> str | None:
    """Return bytes as text in the encoding that a page or e-mail declares, None if they are invalid in it."""
    try:
        encoding = codecs.lookup(declared).name
        if encoding in NO_CHARSETS:
            return None
        # What is labelled Latin-1 or ASCII on the web and in e-mails is this superset of them.
        return (
            clean(content.decode(WESTERN.get(encoding, encoding))).replace("\r\n", "\n").replace("\r", "\n")
        )
    except (LookupError, UnicodeError, ValueError):
        return None


def _decode_guessed(content: bytes) -> str:
    if encoding := encoding_of(content):
        return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        # One broken byte in a long text: the rest is still UTF-8, and a guess would not be better.
        if error.start > GUESSED_FROM:
            return content.decode("utf-8", "replace")
    # The import takes 0.1 s, and most files are UTF-8.
    from charset_normalizer import from_bytes

    matches = from_bytes(content[:GUESSED_FROM])
    if not matches:
        raise UnsupportedType
    best = matches[0]
    likely = {match.encoding for match in matches if match.chaos <= best.chaos + AS_GOOD}
    # Of encodings that fit about equally well, take the one that western European systems write.
    encoding = "cp1252" if best.encoding in LIKE_WESTERN and "cp1252" in likely else best.encoding
    return content.decode(encoding, "replace")


def plain_elements(text: str, *, with_lines: bool = True) -> Iterator[Element]:
    """Yield the headings, paragraphs, list items and tables of a text; `with_lines` says where they are."""
    lines = text.split("\n")
    laid_out = lines[:MOST_LINES]
    # Tables are found twice, because those of a large text take much memory, and their lines little.
    titles = titles_of(laid_out, [table.lines for table in tables_of(laid_out)])
    at = 0
    for table in tables_of(laid_out):
        yield from _text(lines, range(at, table.lines.start), titles, with_lines=with_lines)
        yield from _table(table, with_lines=with_lines)
        at = table.lines.stop
    yield from _text(lines, range(at, len(lines)), titles, with_lines=with_lines)


def paragraphs_of(text: str, *, with_lines: bool = True) -> Iterator[Element]:
    """Yield the paragraphs and list items of a text, however it is laid out: the most robust reading."""
    yield from _prose(enumerate(text.split("\n"), start=1), with_lines=with_lines)


def _text(
    lines: Sequence[str], where: range, titles: Sequence[Title], *, with_lines: bool
) -> Iterator[Element]:
    first, last = (
        bisect_left(titles, at, key=lambda title: title.lines.start) for at in (where.start, where.stop)
    )
    at = where.start
    for title in titles[first:last]:
        yield from _prose(enumerate(lines[at : title.lines.start], start=at + 1), with_lines=with_lines)
        yield element(Kind.HEADING, title.text, _place(title.lines) if with_lines else None, title.level)
        at = title.lines.stop
    yield from _prose(enumerate(lines[at : where.stop], start=at + 1), with_lines=with_lines)


def _place(lines: range) -> InFile:
    return InFile(lines=(lines.start + 1, lines.stop))


def _table(table: DrawnTable, *, with_lines: bool) -> Iterator[Element]:
    header = _row(table.head, with_lines=with_lines) if table.head else [EMPTY] * len(table.rows[0].cells)
    yield from row_groups(header, (_row(row, with_lines=with_lines) for row in table.rows))


def _row(row: DrawnRow, *, with_lines: bool) -> list[LocatedText]:
    place = _place(row.lines) if with_lines else None
    return [locate_text(cell, place) for cell in row.cells]


def _prose(numbered: Iterable[Numbered], *, with_lines: bool) -> Iterator[Element]:
    for block in _blocks(numbered):
        is_item = LIST_ITEM.match(block[0][1]) is not None
        lines = [fold_spaces(line) for _, line in block]
        for part in [range(len(lines))] if is_item else paragraphs(lines):
            place = InFile(lines=(block[part[0]][0], block[part[-1]][0])) if with_lines else None
            kind = Kind.LIST_ITEM if is_item else Kind.PARAGRAPH
            yield element(kind, " ".join(lines[number] for number in part), place)


def _blocks(lines: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    """Group lines that belong together: a list item with its continuation, a paragraph. Rules part them."""
    block: list[Numbered] = []
    for number, line in lines:
        is_said = bool(line.strip()) and not is_rule(line)
        if block and (not is_said or LIST_ITEM.match(line)):
            yield block
            block = []
        if is_said:
            block.append((number, line))
    if block:
        yield block
