"""OpenDocument: texts, sheets (values as shown) and slides, from `content.xml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from zipfile import ZipFile

from lxml import etree

from core.locations import InFile
from extract.archives import open_archive, read_member
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.errors import NO_UNLOCKING, Corrupted, Encrypted, TooManyPages
from extract.grids import CellCounter
from extract.kinds import KINDS
from extract.office.binary_sheets import hidden_warning
from extract.office.cells import LAST_COLUMN, LAST_ROW, MOST_MERGES, SheetLayout
from extract.office.odf_body import (
    OFFICE,
    TABLE,
    TEXT,
    blocks,
    filled_cells,
    hidden_lines,
    merged_ranges,
    pictures_of,
    text_of,
)
from extract.office.odf_hidden import STYLE, take_hidden
from extract.office.odf_raised import raise_figures
from extract.office.pictures import MOST_PICTURES, OfficePicture, read_pictures
from extract.office.plain import zip_paragraphs
from extract.office.sheets import Sheet, filled, sheet_unit
from extract.places import element, fold_spaces
from extract.safe_xml import parse_xml

MIME_TYPES = {KINDS[name].mime_type: name for name in ("odt", "ods", "odp")}
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
CONTENT = "content.xml"
STYLES = "styles.xml"


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield text, sheets or slides; raise `Corrupted`, `Encrypted`, `TooLarge` or `TooManyPages`."""
    with open_archive(path) as archive:
        if b"encryption-data" in (read_member(archive, "META-INF/manifest.xml") or b""):
            raise Encrypted(NO_UNLOCKING)
        declared = (read_member(archive, "mimetype") or b"").decode("ascii", "replace").strip()
        file_type = MIME_TYPES.get(declared.removesuffix("-template"), "odt")
        title = _title(archive)
        if file_type != "odt":
            yield from _parts(archive, file_type, title, request)
            return
        yield Opened(file_type, KINDS[file_type].mime_type, title=title)
        if request.pictures:
            yield from read_pictures(_pictures(archive, _body(archive)), 1)
        elif request.safe_mode:
            yield from _unit(1, list(zip_paragraphs(archive, CONTENT, "p", "*")))
        else:
            yield from _unit(1, _all_elements(archive))


def _all_elements(archive: ZipFile) -> list[Element]:
    body = _body(archive)
    hidden = take_hidden(body.getroottree().getroot())
    marked = [element(Kind.HIDDEN, hidden)] if hidden else []
    return [*blocks(body), *_running_heads(archive), *marked]


def _body(archive: ZipFile) -> etree._Element:
    content = read_member(archive, CONTENT)
    root = parse_xml(content) if content else None
    body = root.find(f"{OFFICE}body") if root is not None else None
    if root is None or body is None or not len(body):
        raise Corrupted
    raise_figures(root)
    return body[0]


def _title(archive: ZipFile) -> str | None:
    content = read_member(archive, "meta.xml")
    titles = parse_xml(content).iter("{http://purl.org/dc/elements/1.1/}title") if content else ()
    return next((text for node in titles if (text := fold_spaces(node.text or ""))), None)


def _pictures(archive: ZipFile, node: etree._Element, place: InFile | None = None) -> Iterator[OfficePicture]:
    for picture in pictures_of(node, place):
        if content := read_member(archive, picture.name.removeprefix("./")):
            yield replace(picture, content=content)


def _parts(archive: ZipFile, file_type: str, title: str | None, request: Request) -> Iterator[Finding]:
    body = _body(archive)
    is_sheets = file_type == "ods"
    found = list(body.iterchildren(f"{TABLE}table" if is_sheets else f"{DRAW}page"))
    hidden = _hidden_sheets(body, found) if is_sheets else []
    parts = [part for part in found if part not in hidden]
    if len(parts) > request.limits.max_pages:
        raise TooManyPages
    units = max(len(parts), 1)
    page_count = None if is_sheets else len(parts)
    yield Opened(file_type, KINDS[file_type].mime_type, units=units, page_count=page_count, title=title)
    yield from hidden_warning([part.get(f"{TABLE}name") or "" for part in hidden])
    counter = CellCounter()
    for number in request.units or range(1, units + 1):
        if not parts:
            yield UnitRead(number, TextOrigin.BLANK)
        elif request.pictures:
            place = _place_of_sheet(parts[number - 1]) if is_sheets else InFile(slide=number)
            yield from read_pictures(_pictures(archive, parts[number - 1], place), number)
        elif is_sheets:
            yield from sheet_unit(number, _sheet(parts[number - 1], counter), counter)
        else:
            yield from _unit(number, list(_slide(parts[number - 1], number)))


def _hidden_sheets(body: etree._Element, tables: list[etree._Element]) -> list[etree._Element]:
    """Return the sheets that are not shown; if none is, all of them are."""
    styles = body.getroottree().iter("{*}style")
    gone = {
        style.get(f"{STYLE}name")
        for style in styles
        if any(look.get(f"{TABLE}display") == "false" for look in style)
    }
    hidden = [table for table in tables if table.get(f"{TABLE}style-name") in gone]
    return hidden if len(hidden) < len(tables) else []


def _sheet(table: etree._Element, counter: CellCounter) -> Sheet:
    cells = filled(filled_cells(table), counter)
    layout = SheetLayout(
        merges=tuple(islice(merged_ranges(table), MOST_MERGES)),
        hidden_rows=frozenset(hidden_lines(table, "row", LAST_ROW)),
        hidden_columns=frozenset(hidden_lines(table, "column", LAST_COLUMN)),
    )
    pictures = tuple(islice(pictures_of(table, _place_of_sheet(table)), MOST_PICTURES))
    return Sheet(table.get(f"{TABLE}name") or "", cells, layout, pictures)


def _place_of_sheet(table: etree._Element) -> InFile | None:
    name = table.get(f"{TABLE}name")
    return InFile(sheet=name) if name else None


def _slide(page: etree._Element, number: int) -> Iterator[Element]:
    """Yield a slide's title as its heading, the rest in order, the notes last."""
    place = InFile(slide=number)
    titles = [shape for shape in page if shape.get(f"{PRESENTATION}class") == "title"]
    for shape in titles:
        if text := fold_spaces(" ".join(text_of(line) for line in shape.iter(f"{TEXT}p"))):
            yield element(Kind.HEADING, text, place, level=1)
    notes = [child for child in page if child.tag == f"{PRESENTATION}notes"]
    others = [child for child in page if child not in titles and child not in notes]
    for child in [*others, *notes]:
        yield from blocks([child], place)


def _running_heads(archive: ZipFile) -> Iterator[Element]:
    content = read_member(archive, STYLES)
    root = parse_xml(content) if content else None
    for name, kind in (("header", Kind.PAGE_HEADER), ("footer", Kind.PAGE_FOOTER)):
        for node in () if root is None else root.iter(f"{{*}}{name}"):
            if text := fold_spaces(text_of(node)):
                yield element(kind, text)


def _unit(number: int, elements: list[Element]) -> Iterator[Finding]:
    yield from elements
    counts = {kind: sum(found.kind is kind for found in elements) for kind in (Kind.TABLE, Kind.PICTURE)}
    source = TextOrigin.TEXT if elements else TextOrigin.BLANK
    yield UnitRead(number, source, tables=counts[Kind.TABLE], pictures=counts[Kind.PICTURE])
