"""Markdown (CommonMark with GitHub's tables), each block with its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.locations import InFile
from core.text.raised import raised
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.entries import paragraphs
from extract.errors import Empty
from extract.grids import Cell, table_elements
from extract.markup.html import html_elements
from extract.places import element, fold_spaces, locate_text
from extract.text.code import code_elements
from extract.text.plain import paragraphs_of, read_text

MAX_NESTING = 100
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
FRONT_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>|<!--.*?(?:-->|\Z)", re.DOTALL)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the document's blocks; raise `Empty` or `UnsupportedType`."""
    text, title = _without_front_matter(read_text(path))
    if not text.strip():
        raise Empty
    yield Opened("md", "text/markdown", title=title)
    elements = list(paragraphs_of(text) if request.safe_mode else markdown_elements(text))
    yield from elements
    tables = sum(found.kind is Kind.TABLE for found in elements)
    yield UnitRead(1, TextOrigin.TEXT if elements else TextOrigin.BLANK, tables=tables)


def markdown_elements(text: str) -> Iterator[Element]:
    """Yield headings, paragraphs, list items, tables and code, without their markup characters."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    tokens = iter(parser.parse(text))
    items = 0
    for token in tokens:
        items += (token.type == "list_item_open") - (token.type == "list_item_close")
        if token.type == "heading_open":
            yield from _block(next(tokens), Kind.HEADING, token.map, int(token.tag[1]))
        elif token.type == "paragraph_open" and items:
            yield from _block(next(tokens), Kind.LIST_ITEM, token.map)
        elif token.type == "paragraph_open":
            yield from _paragraphs(next(tokens), token.map)
        elif token.type in ("fence", "code_block"):
            yield from _code(token)
        elif token.type == "table_open":
            yield from table_elements(_rows(takewhile(lambda part: part.type != "table_close", tokens)), 6)
        elif token.type == "html_block":
            yield from _html(token)


def _without_front_matter(text: str) -> tuple[str, str | None]:
    """Blank out the front matter of static site generators; return the rest, and the title in the front
    matter."""
    front = FRONT_MATTER.match(text)
    if not front:
        return text, None
    title = FRONT_TITLE.search(front[1])
    return "\n" * front[0].count("\n") + text[front.end() :], title[1] if title else None


def _lines(of: list[int] | None) -> InFile | None:
    """Return the place of a token; the parser's lines count from 0 and exclude the end."""
    return InFile(lines=(of[0] + 1, max(of[1], of[0] + 1))) if of else None


def _block(inline: Token, kind: Kind, of: list[int] | None, level: int | None = None) -> Iterator[Element]:
    if text := _words(inline):
        yield element(kind, text, _lines(of), level)


def _paragraphs(inline: Token, of: list[int] | None) -> Iterator[Element]:
    """Yield a paragraph, or the entries that stand in its lines."""
    lines = [fold_spaces(line) for line in _text(inline).split("\n")]
    parts = list(paragraphs(lines)) if all(lines) else []
    if len(parts) < 2:
        yield from _block(inline, Kind.PARAGRAPH, of)
        return
    for part in parts:
        place = [of[0] + part[0], of[0] + part[-1] + 1] if of else None
        yield element(Kind.PARAGRAPH, " ".join(lines[number] for number in part), _lines(place))


def _words(inline: Token) -> str:
    return fold_spaces(_text(inline))


def _text(inline: Token) -> str:
    children = inline.children or []
    before = [None, *children]
    return "".join(
        raised(_inline(child)) if previous is not None and previous.content == "<sup>" else _inline(child)
        for previous, child in zip(before, children, strict=False)
    )


def _inline(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type == "image":
        return "".join(_inline(child) for child in token.children or ())
    return "" if token.type == "html_inline" else token.content


def _code(token: Token) -> Iterator[Element]:
    start, _ = token.map or (0, 0)
    return code_elements(token.content, start + (2 if token.type == "fence" else 1))


def _rows(tokens: Iterator[Token]) -> Iterator[list[Cell]]:
    row: list[Cell] = []
    for token in tokens:
        if token.type == "tr_open":
            row, at = [], token.map
        elif token.type == "inline":
            row.append(locate_text(_words(token), _lines(token.map or at)))
        elif token.type == "tr_close":
            yield row


def _html(token: Token) -> Iterator[Element]:
    if HTML_TAG.sub("", token.content).strip():
        for found in html_elements(token.content):
            yield Element(
                found.kind, locate_text(found.text, _lines(token.map)), found.level, rows=found.rows
            )
