"""Paragraphs that lines, columns or pages part become one again: one text in several places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.locations import Box, LocatedText
from extract.base import Element, Kind
from ingestion.structure.places import line_boxes
from ingestion.structure.typography import Type

# A sentence goes on if its line has no end and the next begins in small letters.
ENDS = re.compile(r"[.!?:;…][\"”’')\]]*\Z")
GOES_ON = re.compile(r"[(“\"'‘]?[^\W\d_A-Z]")
FEWEST_CHARS = 20
# Lines of a paragraph: their left edges differ by so many points, their tops by so many times their size.
SAME_EDGE, LINE_PITCH = 3.0, 2.2
# A line that the column's end cuts is so wide at least, as a share of the lines that follow.
WIDE = 0.7
BETWEEN = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER})
# A longer paragraph is none: nobody reads one of several pages.
MOST_CHARS = 6000


def join_paragraphs(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with parted paragraphs joined where they begin."""
    whole: list[Element] = []
    last: int | None = None
    for element in elements:
        if last is not None and _continues(element, whole[last]):
            located = LocatedText.join((whole[last].located, element.located), " ")
            whole[last] = replace(whole[last], located=located)
            continue
        whole.append(element)
        if element.kind not in BETWEEN:
            last = len(whole) - 1
    return whole


def _continues(element: Element, before: Element) -> bool:
    """Whether a paragraph is the rest of another one's sentence."""
    if element.kind is not Kind.PARAGRAPH or before.kind is not Kind.PARAGRAPH:
        return False
    if len(before.text) < FEWEST_CHARS or len(before.text) + len(element.text) > MOST_CHARS:
        return False
    if element.font_size is None or Type.of(element) != Type.of(before):
        return False
    if ENDS.search(before.text) or not GOES_ON.match(element.text):
        return False
    upper, lower = line_boxes(before)[-1], line_boxes(element)[0]
    return _is_next_line(upper, lower, element) or _is_elsewhere(element, before)


def _is_next_line(upper: Box, lower: Box, element: Element) -> bool:
    """Whether one line stands below the other, as lines of a paragraph do."""
    is_near = 0 < lower.y1 - upper.y1 <= LINE_PITCH * (element.font_size or 0.0)
    return is_near and abs(lower.x1 - upper.x1) <= max(SAME_EDGE, 4 * (element.font_size or 0.0))


def _is_elsewhere(element: Element, before: Element) -> bool:
    """Whether it begins the next page, or the next column after a line as wide as its own."""
    upper, lower = line_boxes(before), line_boxes(element)
    pages = (upper[-1].y1, _last_page(before)), (lower[0].y1, element.located.page_number())
    (bottom, page), (top, next_page) = pages
    if page is None or next_page is None or next_page not in (page, page + 1):
        return False
    is_other_column = next_page == page and top < bottom and lower[0].x1 > upper[-1].x1
    if next_page > page:
        return len(upper) > 1
    widest = max(box.x2 - box.x1 for box in lower)
    return is_other_column and upper[-1].x2 - upper[-1].x1 >= WIDE * widest


def _last_page(element: Element) -> int | None:
    boxes = element.located.boxes()
    return boxes[-1].page.number if boxes else None
