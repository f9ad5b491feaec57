"""Images as documents: each page of a scan, or the one page of a photo, in pixels as displayed.

Pages are reported at once, but characters are recognised only in a deep extraction, because that is slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from core.locations import Box, Page, PageBox
from extract.base import Finding, Opened, Pictured, Request, TextOrigin, UnitRead, Warned
from extract.errors import Corrupted, FileTooLarge, TooManyPages
from extract.images import (
    FILE_TYPES,
    TooManyPixels,
    Undecodable,
    open_image,
    page_count,
    page_pixels,
    page_size,
)
from extract.kinds import KINDS

# More pixels than these do not help recognition: an A3 page at 400 dpi.
MOST_PIXELS = 30_000_000
MOST_PIXELS_SIMPLE = 4_000_000


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield each page as pending, its text with `request.deep`, or the page itself as a picture."""
    try:
        with open_image(path) as image:
            count = page_count(image)
            if count > request.limits.max_pages:
                raise TooManyPages(
                    f"The image has {count} pages; at most {request.limits.max_pages} are accepted."
                )
            page_size(image, 1)
            file_type = FILE_TYPES[str(image.format)]
            yield Opened(file_type, KINDS[file_type].mime_type, units=count, page_count=count)
            for number in request.units or range(1, count + 1):
                yield from _page(image, number, request, alone=count == 1)
    except Undecodable as error:
        raise Corrupted from error
    except TooManyPixels as error:
        raise FileTooLarge(f"The image is too large ({error}). Scale it down and upload it again.") from error


def _page(image: Image.Image, number: int, request: Request, *, alone: bool) -> Iterator[Finding]:
    if not request.deep and not request.pictures:
        yield UnitRead(number, TextOrigin.PENDING)
        return
    try:
        if request.pictures:
            width, height = page_size(image, number)
            yield Pictured(PageBox(Box(0, 0, width, height), Page(number, width, height)))
            yield UnitRead(number, TextOrigin.BLANK, pictures=1)
            return
        yield from _recognise_page(image, number, MOST_PIXELS_SIMPLE if request.safe_mode else MOST_PIXELS)
    except (Undecodable, TooManyPixels):
        if alone:
            raise
        yield UnitRead(number, TextOrigin.UNREADABLE)


def _recognise_page(image: Image.Image, number: int, most: int) -> Iterator[Finding]:
    # Imported here because it loads the models' libraries.
    from extract.ocr.recognition import recognise

    page = Page(number, *page_size(image, number))
    pixels, whole = _pixels(image, number, most)
    recognised = recognise(pixels, page)
    if not whole:
        if not recognised.elements:
            raise Undecodable
        yield Warned("repaired", f"Page {number} is damaged: only a part of it could be read.")
    yield from recognised.elements
    if recognised.elements:
        yield UnitRead(number, TextOrigin.OCR, recognised.confidence)
    else:
        yield UnitRead(number, TextOrigin.BLANK)


def _pixels(image: Image.Image, number: int, most: int) -> tuple[NDArray[np.uint8], bool]:
    """Return a page (height, width, 3), and whether it is complete; Pillow's own copies are freed."""
    try:
        return np.asarray(page_pixels(image, number, most)), True
    except Undecodable:
        return np.asarray(page_pixels(image, number, most, tolerant=True)), False
