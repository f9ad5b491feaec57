"""PDF text by another engine, PDFium: for pages on which MuPDF crashed.

Two parsers seldom share a bug. It yields plain lines, words and boxes; no tables and no type sizes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.cleaning import clean
from extract.errors import Corrupted, TooManyPages

# `FPDF_PageToDevice` answers in whole pixels: request a page of so many pixels per point.
PIXELS = 100


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield each page as one paragraph with a box for every word; raise `Corrupted` or `TooManyPages`."""
    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise Corrupted from error
    with pdf:
        if len(pdf) > request.limits.max_pages:
            raise TooManyPages
        yield Opened("pdf", "application/pdf", len(pdf), len(pdf))
        for number in request.units or range(1, len(pdf) + 1):
            yield from _page(pdf[number - 1], number)


def _page(page: pypdfium2.PdfPage, number: int) -> Iterator[Finding]:
    shown = Page(number, *page.get_size())
    words = list(_words(page, shown))
    if words:
        yield Element(Kind.PARAGRAPH, LocatedText.of_words(words))
    yield UnitRead(number, TextOrigin.TEXT if words else TextOrigin.BLANK)


def _words(page: pypdfium2.PdfPage, shown: Page) -> Iterator[tuple[str, OnPage]]:
    """Yield the words on the displayed page; words side by side share a line."""
    line = -1
    previous: Box | None = None
    for word, box in _boxed_words(page, shown):
        if not (0 <= (box.x1 + box.x2) / 2 <= shown.width and 0 <= (box.y1 + box.y2) / 2 <= shown.height):
            continue
        is_beside = previous and previous.x2 <= box.x1 and previous.y1 < (box.y1 + box.y2) / 2 < previous.y2
        line += not is_beside
        previous = box
        yield word, OnPage(shown, line, _clamp(box, shown))


def _boxed_words(page: pypdfium2.PdfPage, shown: Page) -> Iterator[tuple[str, Box]]:
    text = page.get_textpage()
    word, box = "", None
    for index in range(text.count_chars()):
        character = clean(chr(pdfium.FPDFText_GetUnicode(text.raw, index)))
        if character.strip():
            here = _box(page, shown, text.get_charbox(index))
            word, box = word + character, box.union(here) if box else here
            continue
        if box:
            yield word, box
        word, box = "", None
    if box:
        yield word, box


def _box(page: pypdfium2.PdfPage, shown: Page, corners: tuple[float, float, float, float]) -> Box:
    """Convert a box from the page's own coordinates (origin bottom left, unrotated) to the displayed page."""
    left, bottom, right, top = corners
    xs, ys = zip(
        _displayed_point(page, shown, left, bottom), _displayed_point(page, shown, right, top), strict=True
    )
    return Box(min(xs), min(ys), max(xs), max(ys))


def _clamp(box: Box, page: Page) -> Box:
    return Box(max(0.0, box.x1), max(0.0, box.y1), min(page.width, box.x2), min(page.height, box.y2))


def _displayed_point(page: pypdfium2.PdfPage, shown: Page, x: float, y: float) -> tuple[float, float]:
    width, height = round(shown.width * PIXELS), round(shown.height * PIXELS)
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, x, y, across, down)
    return across.value / PIXELS, down.value / PIXELS
