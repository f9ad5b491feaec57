"""Word: paragraphs with the levels of their styles, lists, tables, notes, running heads and feet.

Reads the XML that python-docx opens. python-docx's own paragraphs look a style up each time, which takes most
of 8 s for 872 pages, and leave out equations, text boxes and notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.exceptions import PackageNotFoundError
from docx.opc.part import PartFactory
from docx.package import Package
from docx.parts.document import DocumentPart

from extract.archives import open_archive
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted
from extract.kinds import KINDS
from extract.office.charts import chart_elements
from extract.office.hidden import HiddenRuns
from extract.office.pictures import OfficePicture, read_pictures
from extract.office.plain import zip_paragraphs
from extract.office.strict import transitional
from extract.office.styles import Styles
from extract.office.wordml import Block, Notes, blocks, is_fake_heading, table_of
from extract.places import element, fold_spaces
from extract.safe_xml import parse_xml

MACROS = "application/vnd.ms-word.document.macroEnabled.main+xml"
TEMPLATES = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)
for content_type in (MACROS, *TEMPLATES):
    PartFactory.part_type_for[content_type] = DocumentPart

DAMAGED = (
    *(PackageNotFoundError, LookupError, ValueError, AttributeError, TypeError, SyntaxError),
    *(OverflowError, RecursionError),
)
Xml = Any
"""lxml elements, some of them of classes that python-docx adds."""


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the document's elements; raise `Corrupted`, `Encrypted` or `TooLarge`."""
    with open_archive(path) as archive, transitional(archive, path) as file:
        yield from package_findings(archive, file, request, "docx")


def package_findings(archive: ZipFile, file: BinaryIO, request: Request, file_type: str) -> Iterator[Finding]:
    """Yield what is in a package that was checked; it may stand for a file of another type."""
    mime_type = KINDS[file_type].mime_type
    pictures: list[OfficePicture] = []
    if request.safe_mode:
        yield Opened(file_type, mime_type)
        elements = list(zip_paragraphs(archive, "word/document.xml", "p", "t"))
    else:
        document = _document(file)
        yield Opened(file_type, mime_type, title=_title(document))
        elements = _all_elements(document, pictures)
    if request.pictures:
        yield from read_pictures(pictures, 1)
        return
    yield from elements
    counts = {kind: sum(found.kind is kind for found in elements) for kind in (Kind.TABLE, Kind.PICTURE)}
    source = TextOrigin.TEXT if elements else TextOrigin.BLANK
    yield UnitRead(1, source, tables=counts[Kind.TABLE], pictures=counts[Kind.PICTURE])


def _document(file: BinaryIO) -> Document:
    try:
        part = Package.open(file).main_document_part
    except DAMAGED as error:
        raise Corrupted from error
    if not isinstance(part, DocumentPart):
        raise Corrupted
    document: Document = part.document
    return document


def _title(document: Document) -> str | None:
    try:
        return fold_spaces(document.core_properties.title or "") or None
    except DAMAGED:  # an unreadable title is no reason to refuse the text
        return None


def _all_elements(document: Document, pictures: list[OfficePicture]) -> list[Element]:
    """Return the elements; note their pictures."""
    try:
        return list(_elements(document, pictures))
    except DAMAGED as error:
        raise Corrupted from error


def _elements(document: Document, pictures: list[OfficePicture]) -> Iterator[Element]:
    styles = Styles.of(_part_xml(document, RT.STYLES))
    body = document.element.body
    if body is None:
        raise Corrupted
    note_parts = [_part_xml(document, RT.FOOTNOTES), _part_xml(document, RT.ENDNOTES)]
    runs = HiddenRuns(_part_xml(document, RT.STYLES), document.element)
    hidden = " ".join(runs.take(part) for part in (body, *note_parts) if part is not None)
    notes = Notes.of(*note_parts)
    found = list(blocks(body, styles, notes))
    has_headings = any(block.level for block in found)
    yield from _running_heads(document, RT.HEADER, Kind.PAGE_HEADER)
    for block in found:
        if block.picture:
            yield from _picture(document, block, pictures)
        else:
            yield from _of_block(block, is_styled=has_headings)
    yield from _running_heads(document, RT.FOOTER, Kind.PAGE_FOOTER)
    if hidden.strip():
        yield element(Kind.HIDDEN, fold_spaces(hidden))


def _picture(document: Document, block: Block, pictures: list[OfficePicture]) -> Iterator[Element]:
    """Yield the element of a picture, and note the picture; of a chart, its values."""
    part = document.part.related_parts.get(block.picture or "")
    if part is not None and str(part.content_type).endswith("drawingml.chart+xml"):
        yield from chart_elements(parse_xml(part.blob))
    if part is None or not str(part.content_type).startswith("image/"):
        return
    picture = OfficePicture(part.blob, block.text)
    pictures.append(picture)
    yield picture.element()


def _of_block(block: Block, *, is_styled: bool) -> Iterator[Element]:
    if block.table is not None:
        yield table_of(block.table)
    elif block.level:
        yield element(Kind.HEADING, block.text, level=block.level)
    elif not is_styled and is_fake_heading(block):
        yield element(Kind.HEADING, block.text, level=1)
    else:
        yield element(block.kind, block.text)


def _running_heads(document: Document, relationship: str, kind: Kind) -> Iterator[Element]:
    """Yield running heads or feet, each wording once."""
    texts: dict[str, None] = {}
    for part in _parts(document, relationship):
        root: Xml = parse_xml(part.blob)
        texts.update(dict.fromkeys(block.text for block in blocks(root, Styles(), Notes()) if block.text))
    yield from (element(kind, text) for text in texts)


def _part_xml(document: Document, relationship: str) -> Xml | None:
    return next((parse_xml(part.blob) for part in _parts(document, relationship)), None)


def _parts(document: Document, relationship: str) -> Iterable[Any]:
    relations = document.part.rels.values()
    return [one.target_part for one in relations if one.reltype == relationship and not one.is_external]
