"""Pictures on a PDF page: images and charts, with the words that only recognition can read in them.

The labels of a chart are words of the page, and stand partly outside the drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from core.locations import Box, LocatedText, OnPage, Page, PageBox
from extract.base import Element, Pictured, TextOrigin, UnitRead
from extract.labels import MOST_LABELS, are_labels, is_caption
from extract.ocr.recognition import OCR_DPI, recognise
from extract.pdf.charts import LARGEST, charts, displayed_box
from extract.pdf.lines import enclosing_box
from extract.pdf.mupdf import pymupdf
from extract.pdf.page import affordable_dpi, needs_recognition, page_elements

# Smaller images are logos and icons; in points, and as a share of the page.
SHORTEST_SIDE, SMALLEST = 48.0, 0.012
# Labels outside a drawing have at most so many characters, and are at most so many points away.
SHORT, LABEL_DISTANCE = 60, 14.0
MOST_PICTURES = 30
# At most so many strips of images are compared, each with all others.
MOST_STRIPS = 2000
# Below this confidence, what was recognised is texture rather than text.
FEWEST_SURE = 0.6
MOST_RECOGNISED = 2000
# Lines of a picture are numbered apart from those of the page and of its other pictures.
LINES_EACH = 10_000


def read_pictures(page: pymupdf.Page, number: int) -> list[Pictured | UnitRead]:
    """Return the pictures on a page (1-based), a whole page before those on it.

    The words in the pictures of a page that is recognised as a whole are known already. Such a page may
    itself be a picture.
    """
    shown = Page(number, page.rect.width, page.rect.height)
    elements, _ = page_elements(page)
    images = page.get_image_info()
    regions = _regions(page, images, shown, elements)[:MOST_PICTURES]
    if needs_recognition(page, elements, images):
        boxes = [Box(0, 0, shown.width, shown.height), *(region.box for region in regions)]
        found = [Pictured(PageBox(box, shown)) for box in boxes]
    else:
        found = [
            _picture(page, region, shown, elements, LINES_EACH * at)
            for at, region in enumerate(regions, start=1)
            if not _is_background(region.box, elements)
        ]
    return [*found, UnitRead(number, TextOrigin.BLANK, pictures=len(found))]


@dataclass(frozen=True, slots=True)
class _Region:
    """The place of a picture, labels included; `is_image` if part of it is an image."""

    box: Box
    is_image: bool


def _picture(
    page: pymupdf.Page, region: _Region, shown: Page, elements: Sequence[Element], first_line: int
) -> Pictured:
    own = [box for _, box in _words(elements, region.box)]
    dpi = affordable_dpi(page, OCR_DPI)
    pixmap = page.get_pixmap(clip=region.box, dpi=dpi, alpha=False, colorspace=pymupdf.csRGB)
    fingerprint = blake2b(pixmap.samples, digest_size=8).hexdigest()
    # The labels of a drawn chart are words of the page, or letters drawn as paths.
    parts = (
        _recognise_unseen(pixmap, region.box, shown, own, first_line) if region.is_image or not own else []
    )
    return Pictured(PageBox(region.box, shown), fingerprint, tuple(parts))


# --- Where pictures stand ----------------------------------------------------------------------------------


def _regions(
    page: pymupdf.Page, images: Sequence[dict[str, Any]], shown: Page, elements: Sequence[Element]
) -> list[_Region]:
    """Return the regions large enough to matter, from top to bottom."""
    placed = (displayed_box(image["bbox"], page, shown) for image in images[:MOST_STRIPS])
    pictures = _join_touching(box for box in placed if box)
    labelled = [_with_labels(box, elements) for box in charts(page, shown)]
    whole = _join_touching([*(box for box in pictures if _is_sized(box, shown)), *labelled])
    return [
        _Region(box, any(_overlap(box, picture) for picture in pictures))
        for box in whole
        if _is_sized(box, shown)
    ]


def _is_background(box: Box, elements: Iterable[Element]) -> bool:
    whole = [
        element.text for element in elements if element.located.runs and box.holds(_element_box(element))
    ]
    return not are_labels(whole) or sum(len(word) for word, _ in _words(elements, box)) > MOST_LABELS


def _is_sized(box: Box, shown: Page) -> bool:
    across, down = box.x2 - box.x1, box.y2 - box.y1
    share = across * down / max(shown.width * shown.height, 1)
    return min(across, down) >= SHORTEST_SIDE and SMALLEST <= share <= LARGEST


def _join_touching(boxes: Iterable[Box]) -> list[Box]:
    """Join boxes that touch: programs cut large images into strips."""
    joined: list[Box] = []
    for box in boxes:
        while touching := next((each for each in joined if _overlap(_grow(box, 1), each)), None):
            joined.remove(touching)
            box = box.union(touching)
        joined.append(box)
    return sorted(joined, key=lambda box: (box.y1, box.x1))


def _with_labels(box: Box, elements: Iterable[Element]) -> Box:
    """Return the box extended by words close to the drawing: the labels of axes and slices."""
    near = _grow(box, LABEL_DISTANCE)
    labels = [
        _element_box(element)
        for element in elements
        if len(element.text) <= SHORT and element.located.runs and not is_caption(element.text)
    ]
    return enclosing_box([box, *(label for label in labels if _overlap(near, label))])


def _element_box(element: Element) -> Box:
    return enclosing_box([each.box for each in element.located.boxes()])


def _words(elements: Iterable[Element], box: Box) -> Iterator[tuple[str, Box]]:
    """Yield the words of the page that stand in a box."""
    for element in elements:
        for span in element.located.spans:
            if isinstance(span.place, OnPage) and box.holds(span.place.box):
                yield element.text[span.start : span.end], span.place.box


def _overlap(one: Box, other: Box) -> bool:
    return one.x1 < other.x2 and other.x1 < one.x2 and one.y1 < other.y2 and other.y1 < one.y2


def _grow(box: Box, by: float) -> Box:
    return Box(box.x1 - by, box.y1 - by, box.x2 + by, box.y2 + by)


# --- What is written in them -------------------------------------------------------------------------------


def _recognise_unseen(
    pixmap: pymupdf.Pixmap, box: Box, shown: Page, own: Sequence[Box], first_line: int
) -> Iterator[LocatedText]:
    """Yield recognised paragraphs in a box, without the words that the page itself has there."""
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    found = recognise(pixels, Page(shown.number, box.x2 - box.x1, box.y2 - box.y1), first_line)
    if (found.confidence or 0) < FEWEST_SURE:
        return
    room = MOST_RECOGNISED
    for element in found.elements:
        words = [
            (element.text[span.start : span.end], _move_place(span.place, box, shown))
            for span in element.located.spans
            if isinstance(span.place, OnPage)
        ]
        left = [(word, place) for word, place in words if not any(each.holds(place.box) for each in own)]
        room -= sum(len(word) for word, _ in left)
        if left and room >= 0:
            yield LocatedText.of_words(left)


def _move_place(place: OnPage, to: Box, shown: Page) -> OnPage:
    x1, y1, x2, y2 = place.box
    return OnPage(
        shown, place.line, Box(x1 + to.x1, y1 + to.y1, min(x2 + to.x1, to.x2), min(y2 + to.y1, to.y2))
    )
