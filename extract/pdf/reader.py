"""PDF with text: every word with its box on the page as displayed.

Blocks keep the order of the content stream. Programs that write PDF put it in reading order, columns
included; sorting by position would interleave columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.locations import Page
from extract.base import Element, Finding, Kind, Opened, Pictured, Request, TextOrigin, UnitRead
from extract.errors import Corrupted, Encrypted, OutOfMemory, TooManyPages
from extract.pdf.mupdf import open_pdf, pymupdf
from extract.pdf.page import affordable_dpi, needs_recognition, page_elements

END_OF_FILE = b"%%EOF"
END_WITHIN = 2048
DEEPEST_HEADING, TITLE_CHARS = 9, 300


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield each page's elements and outcome; raise a `DocumentError` if the file can't be opened."""
    if request.safe_mode and not request.pictures:
        from extract.pdf.pdfium import extract as extract_simply

        yield from extract_simply(path, request)
        return
    # Make boxes as high as the font size: MuPDF's default overlaps the lines above and below.
    pymupdf.TOOLS.set_small_glyph_heights(True)
    with _open(path) as pdf:
        if pdf.page_count > request.limits.max_pages:
            raise TooManyPages(
                f"The document has {pdf.page_count} pages; at most {request.limits.max_pages} are accepted."
            )
        yield Opened(
            *("pdf", "application/pdf", pdf.page_count, pdf.page_count),
            title=(pdf.metadata or {}).get("title") or None,
            is_cut_off=pdf.is_repaired and not _has_end(path),
        )
        outline = _outline(pdf)
        for number in request.units or range(1, pdf.page_count + 1):
            for finding in _page(pdf, number, request):
                yield _with_level(finding, outline) if isinstance(finding, Element) else finding


def _open(path: Path) -> pymupdf.Document:
    try:
        pdf = open_pdf(path)
        if pdf.needs_pass:
            raise Encrypted
        if pdf.page_count == 0:
            raise Corrupted("The PDF has no pages. Export it again and upload the new file.")
    except (RuntimeError, ValueError) as error:
        raise _as_document_error(error) from error
    return pdf


def _has_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - END_WITHIN))
        return END_OF_FILE in file.read()


def _as_document_error(error: Exception) -> Exception:
    return OutOfMemory() if "malloc" in str(error) else Corrupted()


def _page(pdf: pymupdf.Document, number: int, request: Request) -> Sequence[Element | Pictured | UnitRead]:
    """Return the elements of a page (1-based), or its pictures, and its outcome."""
    try:
        page = pdf.load_page(number - 1)
        if pdf.is_repaired and _lost_contents(page):
            return [UnitRead(number, TextOrigin.UNREADABLE)]
        if request.pictures:
            return _pictures(page, number, request)
        return _recognise_page(page, number) if request.deep else _with_its_text(page, number)
    except (RuntimeError, ValueError) as error:
        if isinstance(_as_document_error(error), OutOfMemory):
            raise OutOfMemory from error
        return [UnitRead(number, TextOrigin.UNREADABLE)]


def _pictures(page: pymupdf.Page, number: int, request: Request) -> list[Pictured | UnitRead]:
    # Pictures have no more robust reader, so safe mode leaves them out.
    if request.safe_mode:
        return [UnitRead(number, TextOrigin.UNREADABLE)]
    from extract.pdf.pictures import read_pictures

    return read_pictures(page, number)


def _with_its_text(page: pymupdf.Page, number: int) -> list[Element | UnitRead]:
    elements, hidden = page_elements(page)
    # Finding images interprets the page once more, so it is done only where needed.
    pictures = page.get_image_info() if page.get_images() or not elements else []
    if needs_recognition(page, elements, pictures):
        source = TextOrigin.PENDING
    else:
        source = TextOrigin.TEXT if elements else TextOrigin.BLANK
    read = UnitRead(number, source, tables=_tables(elements), pictures=len(pictures))
    return [*elements, *hidden, read]


def _recognise_page(page: pymupdf.Page, number: int) -> list[Element | UnitRead]:
    """Recognise the page as an image; its own text counts only if the image shows none."""
    from extract.ocr.recognition import OCR_DPI, recognise

    pixmap = page.get_pixmap(dpi=affordable_dpi(page, OCR_DPI), alpha=False, colorspace=pymupdf.csRGB)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    found = recognise(pixels, Page(number, page.rect.width, page.rect.height))
    own, hidden = page_elements(page)
    elements = found.elements or own
    source = TextOrigin.OCR if found.elements else TextOrigin.TEXT if elements else TextOrigin.BLANK
    pictures = len(page.get_image_info())
    return [
        *elements,
        *hidden,
        UnitRead(number, source, found.confidence, _tables(elements), pictures),
    ]


def _tables(elements: list[Element]) -> int:
    return sum(element.kind is Kind.TABLE for element in elements)


def _lost_contents(page: pymupdf.Page) -> bool:
    """Whether the page names contents that are missing from the damaged file."""
    pdf = page.parent
    named, _ = pdf.xref_get_key(page.xref, "Contents")
    contents = page.get_contents()
    return named != "null" and not (contents and all(pdf.xref_is_stream(xref) for xref in contents))


Outline = dict[tuple[int, str], int]
"""The level of each heading in the file's outline, by page number and folded text."""


def _outline(pdf: pymupdf.Document) -> Outline:
    try:
        entries = pdf.get_toc(simple=True)
    except (RuntimeError, ValueError):
        return {}  # a damaged outline costs headings, not the text
    return {(page, _fold_title(title)): min(level, DEEPEST_HEADING) for level, title, page in entries}


def _with_level(element: Element, outline: Outline) -> Element:
    """Return a paragraph as a heading if the outline names it."""
    page = element.located.page_number()
    if not outline or element.kind is not Kind.PARAGRAPH or page is None or len(element.text) > TITLE_CHARS:
        return element
    level = outline.get((page, _fold_title(element.text)))
    return replace(element, kind=Kind.HEADING, level=level) if level else element


def _fold_title(title: str) -> str:
    return "".join(title.split()).casefold()
