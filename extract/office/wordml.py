"""The body of a Word document: paragraphs and tables in order, with what is anchored in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

from core.text.raised import raised
from extract.base import Element, Kind
from extract.cleaning import SYMBOLS
from extract.grids import Cell, lay_out
from extract.merged_cells import MergedCell
from extract.office.styles import BODY_LEVEL, Styles, W, is_on, outline_level, value
from extract.places import fold_spaces, locate_text
from extract.tables import table_element

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
ALTERNATIVE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
TEXT = frozenset({f"{W}t", f"{MATH}t"})
# Deleted and moved-away text, field codes, fallback versions of drawings, phonetic guides.
SKIPPED = frozenset(
    {
        *(f"{W}{name}" for name in ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "rt", "rubyPr")),
        f"{ALTERNATIVE}Fallback",
        f"{MATH}ctrlPr",
    }
)
AS_TEXT = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": "\t"}
BOX = f"{W}txbxContent"
PICTURES = frozenset({f"{W}drawing", f"{W}pict"})
RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}
CONTAINERS = frozenset(
    f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "hdr", "ftr")
)
FAKE_HEADING_CHARS = 100
MAX_COLUMNS = 200

Grid = list[list[Cell]]


@dataclass(slots=True)
class Block:
    """A paragraph, a table if `table` is set, or a picture if `picture` names its part.

    `level` is a heading's; the text of a picture is its alternative text.
    """

    text: str = ""
    level: int | None = None
    kind: Kind = Kind.PARAGRAPH
    bold: bool = False
    table: Grid | None = None
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class Notes:
    """The texts of foot- and endnotes by kind and id."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, *roots: Any) -> Self:
        """Read `footnotes.xml` and `endnotes.xml`, each of which may be missing."""
        texts = {}
        for root in roots:
            for note in () if root is None else root:
                kind = note.tag.removeprefix(W)
                words = fold_spaces(" ".join(_Paragraph(each).text for each in note.iter(f"{W}p")))
                if words and note.get(f"{W}type") in (None, "normal"):
                    texts[kind, note.get(f"{W}id") or ""] = words
        return cls(texts)


def blocks(container: Any, styles: Styles, notes: Notes) -> Iterator[Block]:
    """Yield the blocks of a body, cell, text box or header, in order; notes follow their paragraph."""
    for node in container:
        if node.tag == f"{W}p":
            yield from _paragraph(node, styles, notes)
        elif node.tag == f"{W}tbl":
            yield from _table(node, styles, notes)
        elif node.tag in CONTAINERS:
            yield from blocks(node, styles, notes)


def table_of(grid: Grid) -> Element:
    """Return a block's table as an element."""
    return table_element(grid)


def is_fake_heading(block: Block) -> bool:
    """Whether a paragraph looks like a heading in a document that uses no heading styles."""
    is_short = 2 < len(block.text) <= FAKE_HEADING_CHARS and not block.text.endswith((".", ",", ";", ":"))
    return block.bold and is_short and block.kind is Kind.PARAGRAPH and any(map(str.isalpha, block.text))


class _Paragraph:
    """The contents of one `w:p`: its text, whether all of it is bold, its text boxes and note references."""

    def __init__(self, node: Any) -> None:
        self.parts: list[str] = []
        self.boxes: list[Any] = []
        self.references: list[tuple[str, str]] = []
        self.weights: set[bool | None] = set()
        self.pictures: list[Block] = []
        self._gather(node)
        self.text = fold_spaces("".join(self.parts))

    def _gather(self, node: Any) -> None:
        for child in node:
            tag = child.tag
            if tag in TEXT:
                self._add(child, node)
            elif tag in AS_TEXT:
                self.parts.append(AS_TEXT[tag])
            elif tag == f"{W}sym":
                self.parts.append(_symbol(child))
            elif tag == BOX:
                self.boxes.append(child)
            elif tag in PICTURES:
                self.pictures += _pictures(child)
                self._gather(child)
            elif tag in NOTES:
                self.references.append((NOTES[tag], child.get(f"{W}id") or ""))
            elif tag not in SKIPPED:
                self._gather(child)

    def _add(self, text: Any, run: Any) -> None:
        words = text.text or ""
        look = run.find(f"{W}rPr")
        if look is not None and value(look, "vertAlign") == "superscript":
            words = raised(words)
        self.parts.append(words)
        if words.strip():
            bold = run.find(f"{W}rPr/{W}b")
            self.weights.add(None if bold is None else is_on(bold))


def _symbol(node: Any) -> str:
    """Return the character of a symbol font if it is a known bullet, else nothing."""
    code = node.get(f"{W}char") or ""
    try:
        return SYMBOLS.get(chr(int(code, 16)), "")
    except (ValueError, OverflowError):
        return ""


def _pictures(node: Any) -> Iterator[Block]:
    """Yield the pictures of a drawing, each by the name of the relationship to its part."""
    described = next((each.get("descr") or "" for each in node.iter("{*}docPr")), "")
    names = [blip.get(f"{RELATIONS}embed") for blip in node.iter("{*}blip")]
    names += [image.get(f"{RELATIONS}id") for image in node.iter("{*}imagedata")]
    names += [chart.get(f"{RELATIONS}id") for chart in node.iter("{*}chart")]
    for name in dict.fromkeys(name for name in names if name):
        yield Block(fold_spaces(described), kind=Kind.PICTURE, picture=name)


def _paragraph(node: Any, styles: Styles, notes: Notes) -> Iterator[Block]:
    paragraph = _Paragraph(node)
    if paragraph.text:
        yield _text_block(paragraph, node, styles)
    yield from paragraph.pictures
    for box in paragraph.boxes:
        yield from blocks(box, styles, notes)
    for reference in paragraph.references:
        if reference in notes.texts:
            yield Block(notes.texts[reference])


def _text_block(paragraph: _Paragraph, node: Any, styles: Styles) -> Block:
    properties = node.find(f"{W}pPr")
    style = styles.get(value(properties, "pStyle") if properties is not None else None)
    level = outline_level(properties) or style.level
    numbering = properties.find(f"{W}numPr") if properties is not None else None
    is_item = style.is_list if numbering is None else value(numbering, "numId") != "0"
    kind = Kind.LIST_ITEM if is_item else Kind.PARAGRAPH
    if style.name.lower() == "caption":
        kind = Kind.CAPTION
    bold = bool(paragraph.weights) and all(style.bold if bold is None else bold for bold in paragraph.weights)
    return Block(paragraph.text, level if level and level <= BODY_LEVEL else None, kind, bold)


def _table(node: Any, styles: Styles, notes: Notes) -> Iterator[Block]:
    """Yield a table and its titles before it, or its contents if it is only a frame of one cell or column."""
    cells, heads = _cells(node)
    if any(cell.column for cell in cells) and any(cell.row for cell in cells):
        titles, rows = lay_out(cells, heads)
        yield from (Block(title.text, kind=Kind.CAPTION) for title in titles)
        yield Block(table=rows)
        return
    for cell in node.iter(f"{W}tc"):
        if next(cell.iterancestors(f"{W}tbl")) is node:
            yield from blocks(cell, styles, notes)


def _cells(table: Any) -> tuple[list[MergedCell[Cell]], int]:
    """Return the cells of a table, row by row, and how many rows are repeated as its head on each page."""
    cells: list[MergedCell[Cell]] = []
    at: dict[int, int] = {}  # the cell that each column of the last row belongs to
    heads = 0
    for number, row in enumerate(_children_within(table, "tr")):
        heads += heads == number and row.find(f"{W}trPr/{W}tblHeader") is not None
        column, here = 0, dict[int, int]()
        for cell in _children_within(row, "tc"):
            properties = cell.find(f"{W}tcPr")
            span = value(properties, "gridSpan") if properties is not None else None
            merge = properties.find(f"{W}vMerge") if properties is not None else None
            is_covered = merge is not None and merge.get(f"{W}val") != "restart"
            columns = min(max(int(span), 1), MAX_COLUMNS) if span and span.isdigit() else 1
            if is_covered and column in at:
                here[column] = at[column]
                above = cells[at[column]]
                cells[at[column]] = replace(above, rows=number - above.row + 1)
            else:
                here[column] = len(cells)
                text = "" if is_covered else " ".join(_Paragraph(each).text for each in cell.iter(f"{W}p"))
                cells.append(MergedCell(locate_text(fold_spaces(text)), number, column, columns=columns))
            column += columns
        at = here
    return cells, heads


def _children_within(node: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table or cells of a row, also those wrapped in content controls."""
    for child in node:
        if child.tag == f"{W}{name}":
            yield child
        elif child.tag in CONTAINERS:
            yield from _children_within(child, name)
