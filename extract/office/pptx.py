"""PowerPoint: slide by slide, title first, then what stands on it, then the speaker's notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree
from pptx import Presentation
from pptx.exc import InvalidXmlError, PackageNotFoundError, PythonPptxError

from core.errors import DocumentError
from core.locations import InFile
from core.text.raised import raised
from extract.archives import open_archive
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead, Warned
from extract.errors import Corrupted, TooManyPages
from extract.grids import lay_out
from extract.kinds import KINDS
from extract.merged_cells import MergedCell
from extract.office.charts import chart_elements
from extract.office.hidden import Size, take_hidden
from extract.office.pictures import FEWEST_ALT_WORDS, OfficePicture, read_pictures
from extract.office.plain import zip_paragraphs
from extract.office.strict import transitional
from extract.places import element, fold_spaces, locate_text
from extract.safe_xml import parse_xml
from extract.tables import table_element

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
DAMAGED = (
    *(PythonPptxError, InvalidXmlError, LookupError, ValueError, AttributeError, TypeError),
    *(OverflowError, RecursionError),
)
BASELINE = re.compile(r"[1-9]")
"""Above the line, in thousandths of a percent; below it is less than 0."""
EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the slides, each a unit; raise `Corrupted`, `Encrypted`, `TooLarge` or `TooManyPages`."""
    with open_archive(path) as archive:
        with transitional(archive, path) as file:
            slides, title, size = _open(file)
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
            elif request.safe_mode and not request.pictures:
                member = str(slide.part.partname).lstrip("/")
                yield from _unit(
                    number, list(zip_paragraphs(archive, member, "p", "t", InFile(slide=number)))
                )
            else:
                yield from _slide(slide, number, size, request)


def _open(file: BinaryIO) -> tuple[list[Any], str | None, Size]:
    try:
        presentation = Presentation(file)
        size = presentation.slide_width or 0, presentation.slide_height or 0
        return list(presentation.slides), fold_spaces(presentation.core_properties.title or "") or None, size
    except (*DAMAGED, PackageNotFoundError, etree.XMLSyntaxError) as error:
        raise Corrupted from error


def _slide(slide: Any, number: int, size: Size, request: Request) -> Iterator[Finding]:
    try:
        hidden = take_hidden(slide, size)
        shown = _Slide(slide, InFile(slide=number))
        elements = list(shown.elements())
    except DAMAGED:
        yield UnitRead(number, TextOrigin.UNREADABLE)
        return
    if request.pictures:
        yield from read_pictures(shown.pictures, number)
        return
    if hidden:
        yield element(Kind.HIDDEN, hidden)
    if shown.lost:
        yield Warned("shapes_unread", f"On slide {number}, {shown.lost} objects could not be read.")
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
        self.pictures: list[OfficePicture] = []
        self.lost = 0
        """The shapes that could not be read."""

    def elements(self) -> Iterator[Element]:
        """Yield title, shapes, and notes."""
        title = self.slide.shapes.title
        if title is not None and (text := fold_spaces(title.text_frame.text)):
            yield element(Kind.HEADING, text, self.place, level=1)
        for shape in self.slide.shapes:
            if title is None or shape.shape_id != title.shape_id:
                yield from self._whole_shape(shape)
        if self.slide.has_notes_slide and (frame := self.slide.notes_slide.notes_text_frame):
            yield from self._paragraphs(frame.paragraphs, Kind.PARAGRAPH)

    def _whole_shape(self, shape: Any) -> list[Element]:
        """Return what a shape shows; nothing, and count it, if it can't be read."""
        try:
            return list(self._shape(shape))
        except (*DAMAGED, DocumentError):
            self.lost += 1
            return []

    def _shape(self, shape: Any) -> Iterator[Element]:
        if hasattr(shape, "shapes"):
            yield from chain.from_iterable(map(self._whole_shape, shape.shapes))
        elif shape.has_text_frame:
            yield from self._paragraphs(shape.text_frame.paragraphs, _kind(shape))
        elif getattr(shape, "has_table", False):
            yield from self._table(shape.table)
        elif getattr(shape, "has_chart", False):
            # The part, not `shape.chart`: that refuses charts of unknown kinds.
            yield from chart_elements(parse_xml(shape.chart_part.blob), self.place)
        else:
            yield from self._other(shape)

    def _paragraphs(self, paragraphs: Iterable[Any], kind: Kind) -> Iterator[Element]:
        for paragraph in paragraphs:
            if text := _text(paragraph._p):
                yield element(kind, text, self.place)

    def _table(self, table: Any) -> Iterator[Element]:
        cells = [
            MergedCell(
                locate_text(_words(cell), self.place), number, column, cell.span_height, cell.span_width
            )
            for number, row in enumerate(table.rows)
            for column, cell in enumerate(row.cells)
            if not cell.is_spanned
        ]
        if any(cell.content.text for cell in cells):
            titles, rows = lay_out(cells)
            yield from (Element(Kind.CAPTION, title) for title in titles)
            yield table_element(rows)

    def _other(self, shape: Any) -> Iterator[Element]:
        """Yield the text of a diagram (SmartArt), or the alternative text of a picture."""
        for relation in shape._element.iter("{*}relIds"):
            data = self.slide.part.related_part(relation.get(f"{{{relation.nsmap['r']}}}dm"))
            for paragraph in parse_xml(data.blob).iter(f"{DRAWING}p"):
                if text := _text(paragraph):
                    yield element(Kind.LIST_ITEM, text, self.place)
        alt = fold_spaces(next((node.get("descr") or "" for node in shape._element.iter("{*}cNvPr")), ""))
        if (content := self._image(shape)) is not None:
            picture = OfficePicture(content, alt, self.place)
            self.pictures.append(picture)
            yield picture.element()
        elif len(alt.split()) >= FEWEST_ALT_WORDS:
            yield element(Kind.PICTURE, alt, self.place)

    def _image(self, shape: Any) -> bytes | None:
        """Return the file of the image that a shape shows."""
        names = (blip.get(EMBED) for blip in shape._element.iter(f"{DRAWING}blip"))
        name = next((one for one in names if one), None)
        return bytes(self.slide.part.related_part(name).blob) if name else None


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
    return " ".join(text for paragraph in cell.text_frame.paragraphs if (text := _text(paragraph._p)))


def _text(paragraph: Any) -> str:
    """Return the text of an `a:p`, with raised figures as such."""
    words = (
        " "
        if node.tag == f"{DRAWING}br"
        else raised(node.text or "")
        if _is_raised(node)
        else node.text or ""
        for node in paragraph.iter(f"{DRAWING}t", f"{DRAWING}br")
    )
    return fold_spaces("".join(words))


def _is_raised(text: Any) -> bool:
    look = text.getparent().find(f"{DRAWING}rPr")
    return look is not None and BASELINE.match(look.get("baseline") or "") is not None
