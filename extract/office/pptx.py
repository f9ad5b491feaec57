"""PowerPoint: slide by slide, title first, then what stands on it, then the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.exc import InvalidXmlError, PackageNotFoundError, PythonPptxError

from core.locations import InFile
from extract.archives import open_archive
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted, TooManyPages
from extract.grids import Cell
from extract.kinds import KINDS
from extract.office.hidden import Size, take_hidden
from extract.office.plain import zip_paragraphs
from extract.places import element, fold_spaces, locate_text
from extract.safe_xml import parse_xml
from extract.tables import table_element

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
DAMAGED = (
    *(PythonPptxError, InvalidXmlError, LookupError, ValueError, AttributeError, TypeError),
    *(OverflowError, RecursionError),
)
FEWEST_ALT_WORDS = 3


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the slides, each a unit; raise `Corrupted`, `Encrypted`, `TooLarge` or `TooManyPages`."""
    with open_archive(path) as archive:
        slides, title, size = _open(path)
        if len(slides) > request.limits.max_pages:
            raise TooManyPages(
                f"The presentation has {len(slides)} slides; at most {request.limits.max_pages} are accepted."
            )
        units = max(len(slides), 1)
        yield Opened("pptx", KINDS["pptx"].mime_type, units=units, page_count=len(slides), title=title)
        for number in request.units or range(1, units + 1):
            slide = slides[number - 1] if slides else None
            if slide is None:
                yield UnitRead(number, TextOrigin.BLANK)
            elif request.safe_mode:
                member = str(slide.part.partname).lstrip("/")
                yield from _unit(
                    number, list(zip_paragraphs(archive, member, "p", "t", InFile(slide=number)))
                )
            else:
                yield from _slide(slide, number, size)


def _open(path: Path) -> tuple[list[Any], str | None, Size]:
    try:
        presentation = Presentation(str(path))
        size = presentation.slide_width or 0, presentation.slide_height or 0
        return list(presentation.slides), fold_spaces(presentation.core_properties.title or "") or None, size
    except (*DAMAGED, PackageNotFoundError, etree.XMLSyntaxError) as error:
        raise Corrupted from error


def _slide(slide: Any, number: int, size: Size) -> Iterator[Finding]:
    try:
        hidden = take_hidden(slide, size)
        elements = list(_Slide(slide, InFile(slide=number)).elements())
    except DAMAGED:
        yield UnitRead(number, TextOrigin.UNREADABLE)
        return
    if hidden:
        yield element(Kind.HIDDEN, hidden)
    yield from _unit(number, elements)


def _unit(number: int, elements: list[Element]) -> Iterator[Finding]:
    yield from elements
    counts = {kind: sum(found.kind is kind for found in elements) for kind in (Kind.TABLE, Kind.PICTURE)}
    source = TextOrigin.TEXT if elements else TextOrigin.BLANK
    yield UnitRead(number, source, tables=counts[Kind.TABLE], pictures=counts[Kind.PICTURE])


class _Slide:
    """One slide; all its text has the same place."""

    def __init__(self, slide: Any, place: InFile) -> None:
        self.slide = slide
        self.place = place

    def elements(self) -> Iterator[Element]:
        """Yield title, shapes, and notes."""
        title = self.slide.shapes.title
        if title is not None and (text := fold_spaces(title.text_frame.text)):
            yield element(Kind.HEADING, text, self.place, level=1)
        for shape in self.slide.shapes:
            if title is None or shape.shape_id != title.shape_id:
                yield from self._shape(shape)
        if self.slide.has_notes_slide and (frame := self.slide.notes_slide.notes_text_frame):
            yield from self._paragraphs(frame.paragraphs, Kind.PARAGRAPH)

    def _shape(self, shape: Any) -> Iterator[Element]:
        if hasattr(shape, "shapes"):
            yield from chain.from_iterable(self._shape(inner) for inner in shape.shapes)
        elif shape.has_text_frame:
            yield from self._paragraphs(shape.text_frame.paragraphs, _kind(shape))
        elif getattr(shape, "has_table", False):
            yield from self._table([[_words(cell) for cell in row.cells] for row in shape.table.rows])
        elif getattr(shape, "has_chart", False):
            yield from self._chart(shape.chart)
        else:
            yield from self._other(shape)

    def _paragraphs(self, paragraphs: Iterable[Any], kind: Kind) -> Iterator[Element]:
        for paragraph in paragraphs:
            if text := fold_spaces("".join(paragraph._p.itertext(f"{DRAWING}t"))):
                yield element(kind, text, self.place)

    def _table(self, rows: list[list[str]]) -> Iterator[Element]:
        grid: list[list[Cell]] = [[locate_text(text, self.place) for text in row] for row in rows if any(row)]
        if grid:
            yield table_element(grid)

    def _chart(self, chart: Any) -> Iterator[Element]:
        """Yield a chart's title, and its series as the columns of a table."""
        if chart.has_title and chart.chart_title.has_text_frame:
            yield from self._paragraphs(chart.chart_title.text_frame.paragraphs, Kind.CAPTION)
        for plot in chart.plots:
            series = list(plot.series)
            names = [str(category) for category in plot.categories]
            values = [[_number(value) for value in one.values] for one in series]
            rows = ([name, *row] for name, *row in zip(names, *values, strict=False))
            yield from self._table([["", *(fold_spaces(one.name or "") for one in series)], *rows])

    def _other(self, shape: Any) -> Iterator[Element]:
        """Yield the text of a diagram (SmartArt), or the alternative text of a picture."""
        for relation in shape._element.iter("{*}relIds"):
            data = self.slide.part.related_part(relation.get(f"{{{relation.nsmap['r']}}}dm"))
            for paragraph in parse_xml(data.blob).iter(f"{DRAWING}p"):
                if text := fold_spaces("".join(paragraph.itertext(f"{DRAWING}t"))):
                    yield element(Kind.LIST_ITEM, text, self.place)
        alt = fold_spaces(next((node.get("descr") or "" for node in shape._element.iter("{*}cNvPr")), ""))
        if len(alt.split()) >= FEWEST_ALT_WORDS:
            yield element(Kind.PICTURE, alt, self.place)


def _kind(shape: Any) -> Kind:
    """Return the kind of a text frame's paragraphs: list items where the layout has bullets."""
    if not shape.is_placeholder:
        return Kind.PARAGRAPH
    name = shape.placeholder_format.type.name
    if name in ("FOOTER", "DATE", "SLIDE_NUMBER", "HEADER"):
        return Kind.PAGE_FOOTER
    is_list = name in ("BODY", "OBJECT") and len(shape.text_frame.paragraphs) > 1
    return Kind.LIST_ITEM if is_list else Kind.PARAGRAPH


def _words(cell: Any) -> str:
    return fold_spaces(cell.text_frame.text)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"
