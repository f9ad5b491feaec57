"""The body of an OpenDocument file: paragraphs, lists, tables, cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lxml import etree

from core.locations import InFile
from extract.base import Element, Kind
from extract.errors import FileTooLarge
from extract.grids import MAX_CELLS, TOO_MANY_CELLS, lay_out
from extract.merged_cells import MergedCell
from extract.office.cells import CellKind, FilledCell, Range
from extract.office.pictures import OfficePicture
from extract.places import element, fold_spaces, locate_text
from extract.tables import table_element

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
HREF = "{http://www.w3.org/1999/xlink}href"
PREVIEWED = frozenset({f"{TABLE}table", f"{DRAW}object", f"{DRAW}object-ole"})
SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
DESCRIPTIONS = (f"{SVG}title", f"{SVG}desc")
AS_TEXT = {f"{TEXT}s": " ", f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
# Deleted text, comments in the margin, notes (which follow their paragraph), descriptions of pictures.
APART = frozenset({f"{TEXT}tracked-changes", f"{OFFICE}annotation", f"{TEXT}note", *DESCRIPTIONS})
CELLS = frozenset({f"{TABLE}table-cell", f"{TABLE}covered-table-cell"})
PARAGRAPHS = frozenset({f"{TEXT}p", f"{TEXT}h"})
DEEPEST_HEADING = 9


def blocks(
    node: Iterable[etree._Element], place: InFile | None = None, kind: Kind = Kind.PARAGRAPH
) -> Iterator[Element]:
    """Yield the elements in a node, in order."""
    for child in node:
        if child.tag in PARAGRAPHS:
            yield from _paragraph(child, place, kind)
        elif child.tag == f"{TABLE}table":
            yield from _table(child, place)
        elif child.tag == f"{TEXT}list":
            yield from blocks(child, place, Kind.LIST_ITEM)
        elif child.tag == f"{DRAW}frame":
            yield from (picture.element() for picture in pictures_of(child, place))
            yield from blocks(child, place, kind)
        elif isinstance(child.tag, str) and child.tag not in APART:
            yield from blocks(child, place, kind)


def _paragraph(node: etree._Element, place: InFile | None, kind: Kind) -> Iterator[Element]:
    text = fold_spaces(text_of(node))
    if node.tag == f"{TEXT}h" and text:
        yield element(Kind.HEADING, text, place, _level(node))
    elif text:
        yield element(kind, text, place)
    for note in node.iter(f"{TEXT}note-body"):
        yield from blocks(note, place)
    yield from (picture.element() for picture in pictures_of(node, place))
    for frame in node.iter("{*}text-box"):
        yield from blocks(frame, place)


def pictures_of(node: etree._Element, place: InFile | None) -> Iterator[OfficePicture]:
    """Yield the pictures in a node by the names of their files, without what the files hold.

    The previews of tables and charts are none.
    """
    for frame in node.iter(f"{DRAW}frame"):
        image = None if any(child.tag in PREVIEWED for child in frame) else frame.find(f"{DRAW}image")
        name = image.get(HREF) if image is not None else None
        if name:
            description = " ".join(str(part) for part in frame.itertext(*DESCRIPTIONS))
            yield OfficePicture(b"", description, place, name)


def _level(node: etree._Element) -> int:
    given = node.get(f"{TEXT}outline-level") or "1"
    return min(max(int(given), 1), DEEPEST_HEADING) if given.isdigit() else 1


def text_of(node: etree._Element) -> str:
    """Return the text of a paragraph, or of all paragraphs in a node, without notes and text boxes."""
    parts: list[str] = []
    walker = etree.iterwalk(node, events=("start", "end"))
    for event, child in walker:
        if event == "end":
            parts += [child.tail or "" if child is not node else "", "\n" if child.tag in PARAGRAPHS else ""]
        elif child.tag in APART or (child is not node and str(child.tag).endswith("}text-box")):
            walker.skip_subtree()
        else:
            parts.append(AS_TEXT.get(str(child.tag)) or child.text or "")
    return "".join(parts)


def _table(node: etree._Element, place: InFile | None) -> Iterator[Element]:
    """Yield a table and its titles before it, or its contents if it is only a frame."""
    filled = list(filled_cells(node))
    width = max((cell.column for cell in filled), default=0)
    if width < 2 or len({cell.row for cell in filled}) < 2:
        yield from blocks(node, place)
        return
    spans = {area[:2]: area for area in merged_ranges(node)}
    cells = []
    for cell in filled:
        top, left, bottom, right = spans.get((cell.row, cell.column), (cell.row, cell.column) * 2)
        content = locate_text(cell.text, place)
        cells.append(MergedCell(content, top - 1, left - 1, bottom - top + 1, right - left + 1))
    titles, rows = lay_out(cells)
    yield from (Element(Kind.CAPTION, title) for title in titles)
    yield table_element(rows)


def filled_cells(table: etree._Element) -> Iterator[FilledCell]:
    """Yield the filled cells of a table, row by row; raise `FileTooLarge` if they repeat endlessly."""
    row_number = 0
    seen = 0
    for row in _rows(table):
        cells = list(_row_cells(row))
        repeated = _repeat_count(row, "rows")
        seen += len(cells) * (repeated if cells else 0)
        if seen > MAX_CELLS:
            raise FileTooLarge(TOO_MANY_CELLS)
        for extra in range(1, repeated + 1) if cells else ():
            yield from (replace(cell, row=row_number + extra) for cell in cells)
        row_number += repeated


def _rows(node: etree._Element) -> Iterator[etree._Element]:
    """Yield the rows of a table, also those in groups, but not those of tables in its cells."""
    for child in node:
        if child.tag == f"{TABLE}table-row":
            yield child
        elif str(child.tag).startswith(TABLE) and "row" in str(child.tag):
            yield from _rows(child)


def _row_cells(row: etree._Element) -> Iterator[FilledCell]:
    column = 0
    for cell in row:
        if cell.tag not in CELLS:
            continue
        repeated = _repeat_count(cell, "columns")
        text = fold_spaces(text_of(cell))
        if text and repeated > MAX_CELLS:
            raise FileTooLarge(TOO_MANY_CELLS)
        for extra in range(1, repeated + 1) if text else ():
            yield FilledCell(0, column + extra, text, _kind(cell))
        column += repeated


def _kind(cell: etree._Element) -> CellKind:
    """Return what a cell holds; only cells of sheets say so."""
    match cell.get(f"{OFFICE}value-type"):
        case "float" | "currency" | "percentage":
            return CellKind.NUMBER
        case "date" | "time":
            return CellKind.DATE
    return CellKind.WORDS


def merged_ranges(table: etree._Element) -> Iterator[Range]:
    """Yield the ranges of merged cells of a sheet."""
    row_number = 0
    for row in _rows(table):
        column = 0
        for cell in row:
            if cell.tag in CELLS:
                down, across = _span_of(cell, "rows"), _span_of(cell, "columns")
                if down > 1 or across > 1:
                    yield row_number + 1, column + 1, row_number + down, column + across
                column += _repeat_count(cell, "columns")
        row_number += _repeat_count(row, "rows")


def hidden_lines(table: etree._Element, what: str, most: int) -> Iterator[int]:
    """Yield the numbers of the hidden rows or columns (`what`: `row`, `column`) of a sheet, up to `most`."""
    at = 0
    for node in table.iter(f"{TABLE}table-{what}"):
        repeated = _repeat_count(node, f"{what}s")
        if node.get(f"{TABLE}visibility") in ("collapse", "filter"):
            yield from range(at + 1, min(at + repeated, most) + 1)
        at += repeated


def _span_of(node: etree._Element, what: str) -> int:
    given = node.get(f"{TABLE}number-{what}-spanned") or "1"
    return max(int(given), 1) if given.isdigit() and len(given) < 8 else 1


def _repeat_count(node: etree._Element, what: str) -> int:
    given = node.get(f"{TABLE}number-{what}-repeated") or "1"
    return max(int(given), 1) if given.isdigit() else 1
