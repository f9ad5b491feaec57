"""One page of a PDF: its paragraphs and tables in reading order, and whether it shows text that it does not
hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from core.locations import LocatedText, OnPage, Page, PageLine, WordRun
from extract.base import Element, Kind
from extract.entries import is_begun
from extract.pdf.lines import PdfLine
from extract.pdf.mupdf import pymupdf
from extract.pdf.raised_marks import join_raised_marks
from extract.pdf.ruled_tables import with_ruled_tables
from extract.pdf.rules import DrawnLines, drawn_lines
from extract.pdf.tables import Table, with_tables
from extract.pdf.visible_lines import read_lines
from extract.tables import table_element

MAX_OCR_PIXELS = 40_000_000
# A page with fewer characters may be an image of text, if pictures cover this share of it or so many paths
# are drawn.
FEW_CHARACTERS, PICTURED_SHARE, OUTLINES = 40, 0.15, 40
# A picture less high or wide, in points, shows no word.
SMALLEST_SIDE = 8.0
# Glyphs that no font table maps to characters.
UNMAPPED = re.compile("[\ufffd\ue000-\uf8ff]")
UNMAPPED_SHARE = 0.3
# In ems: prose in a narrower column is rare, and the lines of a form are no wider.
NARROWEST_COLUMN = 22


# --- Does it show text that it lacks? -----------------------------------------------------------------------


def needs_recognition(page: pymupdf.Page, elements: list[Element], pictures: list[dict[str, Any]]) -> bool:
    """Whether a page shows text that it does not hold: scanned, drawn as outlines, or in unmapped glyphs."""
    text = "".join(element.text for element in elements)
    characters = len(text) - text.count(" ")
    unmapped = len(UNMAPPED.findall(text))
    if unmapped > UNMAPPED_SHARE * characters:
        return True
    if not characters and any(_is_seen(picture) for picture in pictures):
        return True  # however small: nothing else on the page can be read
    if characters - unmapped >= FEW_CHARACTERS:
        return False
    shown = abs(page.rect)
    pictured = sum(abs(pymupdf.Rect(picture["bbox"]) & page.rect) for picture in pictures)
    return pictured >= PICTURED_SHARE * shown or _has_outlines(page)


def _is_seen(picture: dict[str, Any]) -> bool:
    """Whether a picture is large enough for a word."""
    left, top, right, bottom = picture["bbox"]
    return bool(min(abs(right - left), abs(bottom - top)) >= SMALLEST_SIDE)


def _has_outlines(page: pymupdf.Page) -> bool:
    """Whether so many paths are drawn that they may be letters."""
    return len(page.get_cdrawings()) >= OUTLINES or len(page.get_bboxlog()) >= OUTLINES


# --- One page ----------------------------------------------------------------------------------------------


def page_elements(page: pymupdf.Page) -> tuple[list[Element], list[Element]]:
    """Return the paragraphs of a page in reading order and, separately, its hidden text."""
    shown = Page(page.number + 1, page.rect.width, page.rect.height)
    text = read_lines(page, shown)
    elements: list[Element] = []
    line_number = 0
    for block in _blocks(text.blocks, drawn_lines(page)):
        if isinstance(block, Table):
            elements.append(_table_element(block, shown, line_number))
            line_number += sum(len(cell) for row in block.grid for cell in row)
            continue
        for paragraph in _paragraphs(block):
            elements.append(_element(paragraph, shown, line_number))
            line_number += len(paragraph)
    if text.stamps:
        stamp = [(word, OnPage(shown, line_number, box)) for word, box in text.stamps]
        elements.append(Element(Kind.PAGE_HEADER, LocatedText.of_words(stamp)))
    hidden = [Element(Kind.HIDDEN, LocatedText(" ".join(text.hidden)))] if text.hidden else []
    return elements, hidden


def _blocks(blocks: list[list[PdfLine]], drawn: DrawnLines) -> Iterator[list[PdfLine] | Table]:
    """Yield the blocks of a page, with tables in place of their lines: those in a grid, then the others."""
    others: list[list[PdfLine]] = []
    for part in with_ruled_tables(join_raised_marks(blocks), drawn):
        if isinstance(part, Table):
            yield from with_tables(others, drawn.rules)
            yield part
            others = []
        else:
            others.append(part)
    yield from with_tables(others, drawn.rules)


def _paragraphs(block: list[PdfLine]) -> Iterator[list[PdfLine]]:
    """Split a block where the type changes: MuPDF merges a heading with the text close below it."""
    right = max(line.box.x2 for line in block)
    paragraph = [block[0]]
    for line in block[1:]:
        if _starts_anew(line, paragraph[-1], right):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    yield paragraph


def _starts_anew(line: PdfLine, previous: PdfLine, right: float) -> bool:
    if line.box.y1 < (previous.box.y1 + previous.box.y2) / 2:
        return False  # a cell in the same row
    if line.box.x1 > previous.box.x2 or line.box.x2 < previous.box.x1:
        return True  # a running head on the right, and text on the left
    if abs(line.size - previous.size) > 0.08 * max(line.size, previous.size):
        return True
    if is_begun(line.text, previous.text, has_room=_has_room(line, previous, right)):
        return True
    # Emphasised words in running text reach the end of a line; a heading stops before.
    return _look(line) != _look(previous) and previous.box.x2 < right - 2 * previous.size


def _has_room(line: PdfLine, previous: PdfLine, right: float) -> bool:
    """Tell whether the first word of a line would have had room in the line before."""
    _, first = line.words[0]
    width = max(right, previous.box.x1 + NARROWEST_COLUMN * line.size)
    return previous.box.x2 + line.size / 2 + (first.x2 - first.x1) < width


def _look(line: PdfLine) -> tuple[bool, bool, bool]:
    return line.bold, line.italic, line.text.isupper()


def _element(lines: list[PdfLine], page: Page, first_line: int) -> Element:
    sizes = Counter(line.size for line in lines for _ in line.words)
    located = _locate_lines(lines, page, first_line)
    return Element(
        Kind.PARAGRAPH,
        located,
        font_size=sizes.most_common(1)[0][0],
        bold=all(line.bold for line in lines),
        italic=all(line.italic for line in lines),
        lead=_lead(lines),
    )


def _lead(lines: list[PdfLine]) -> int:
    """Return the characters at the beginning that are bold or italic, unlike what follows them."""
    first = lines[0]
    words = first.words[: first.lead]
    return len(" ".join([text for text, _ in words])) if len(first.words) > first.lead else 0


def _table_element(table: Table, page: Page, first_line: int) -> Element:
    grid = []
    for row in table.grid:
        cells = []
        for lines in row:
            cells.append(_locate_lines(lines, page, first_line))
            first_line += len(lines)
        grid.append(cells)
    return table_element(grid)


def _locate_lines(lines: list[PdfLine], page: Page, first_line: int) -> LocatedText:
    parts: list[str] = []
    runs: list[WordRun] = []
    at = 0
    for number, line in enumerate(lines, start=first_line):
        words = []
        for text, box in line.words:
            end = at + len(text)
            words.append((at, end, box.x1, box.y1, box.x2, box.y2))
            parts.append(text)
            at = end + 1
        runs.append(WordRun(PageLine(page, number), tuple(words)))
    return LocatedText(" ".join(parts), tuple(runs))


def affordable_dpi(page: pymupdf.Page, dpi: int) -> int:
    """Return a resolution at which even a giant page fits into memory."""
    square_inches = page.rect.width * page.rect.height / 72**2
    return max(1, min(dpi, int((MAX_OCR_PIXELS / square_inches) ** 0.5)))
