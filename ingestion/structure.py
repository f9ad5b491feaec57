"""Document structure from the type on the page: headings and their levels, lists, running heads and feet.

Extractors see one page at a time. This step sees the whole document, so it knows the size of the running text
and the lines that are repeated on many pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

from core.locations import Box, OnPage
from extract.base import Element, Kind

# Running heads and feet stand in this share of the page's height, at the same height within so many points.
# They occur on at least FEWEST pages, and on PAGES_SHARE of all pages up to ENOUGH.
MARGIN = 0.12
SAME_HEIGHT = 6.0
FEWEST, PAGES_SHARE, ENOUGH = 3, 0.1, 10

# A heading's type is so many times the size of the running text, or bold and not smaller than it.
LARGER, NOT_SMALLER = 1.12, 0.95
HEADING_CHARS, HEADING_LINES = 160, 3
SAME_EDGE = 3.0
EDGE_SHARE = 0.05

LIST_ITEM = re.compile(r"([•●○▪■◦‣·–—]|[-*]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\([ivx]+\))\s")
NUMBERED = re.compile(r"(item|part|chapter|section|note)\b|(?<![\dIVX])[\dIVX]++[.)\s]", re.IGNORECASE)
FEWEST_LETTERS = 3

DEEPEST = 9

Style = tuple[float, bool, bool]
"""Size, bold, capitals; a greater one is an outer level."""


def structure_elements(elements: Sequence[Element]) -> list[Element]:
    """Return the elements classified as headings (with level), list items, running heads and feet."""
    marked = _mark_running_lines(elements)
    typography = _Typography.of(element for element in marked if element.kind is Kind.PARAGRAPH)
    headings = [typography.is_heading(element) for element in marked]
    styles = {_style(element) for element, is_heading in zip(marked, headings, strict=True) if is_heading}
    levels = _levels(styles, marked)
    return [
        replace(element, kind=Kind.HEADING, level=levels[_style(element)])
        if is_heading
        else _as_list_item(element)
        for element, is_heading in zip(marked, headings, strict=True)
    ]


def _levels(styles: Iterable[Style], elements: Iterable[Element]) -> dict[Style, int]:
    """Return the level of headings in each style: the level that the file gives to similar headings, or by
    size."""
    said: defaultdict[Style, Counter[int]] = defaultdict(Counter)
    for element in elements:
        if element.kind is Kind.HEADING and element.level:
            said[_style(element)][element.level] += 1
    levels: dict[Style, int] = {}
    level = 0
    for style in sorted({*styles, *said}, reverse=True):
        level = said[style].most_common(1)[0][0] if style in said else min(level + 1, DEEPEST)
        levels[style] = level
    return levels


def _as_list_item(element: Element) -> Element:
    is_item = element.kind is Kind.PARAGRAPH and LIST_ITEM.match(element.text)
    return replace(element, kind=Kind.LIST_ITEM) if is_item else element


def _style(element: Element) -> Style:
    return (element.font_size or 0.0, element.bold, element.text.isupper())


# --- Running heads and feet --------------------------------------------------------------------------------


def _mark_running_lines(elements: Sequence[Element]) -> list[Element]:
    """Mark elements at the same place on many pages, digits ignored, as page header or footer."""
    places = [_first_place(element) for element in elements]
    keys = [_running_key(element, place) for element, place in zip(elements, places, strict=True)]
    pages_with: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for key, place in zip(keys, places, strict=True):
        if key and place:
            pages_with[key].add(place.page.number)
    page_count = len({place.page.number for place in places if place})
    enough = min(max(FEWEST, PAGES_SHARE * page_count), ENOUGH)
    return [
        replace(element, kind=Kind.PAGE_HEADER if _is_above(place) else Kind.PAGE_FOOTER)
        if key and place and len(pages_with[key]) >= enough
        else element
        for element, key, place in zip(elements, keys, places, strict=True)
    ]


def _first_place(element: Element) -> OnPage | None:
    place = element.located.first_place()
    return place if isinstance(place, OnPage) else None


def _running_key(element: Element, place: OnPage | None) -> tuple[str, int] | None:
    """Return the key that an element shares with its repetitions, None outside the margins."""
    if place is None or element.kind is not Kind.PARAGRAPH:
        return None
    height = place.page.height
    boxes = [line.box for line in element.located.boxes()]
    above, below = max(box.y2 for box in boxes), min(box.y1 for box in boxes)
    if above > MARGIN * height and below < (1 - MARGIN) * height:
        return None
    return re.sub(r"\d+", "#", element.text), round(boxes[0].y1 / SAME_HEIGHT)


def _is_above(place: OnPage) -> bool:
    return place.box.y1 < place.page.height / 2


# --- Headings ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Typography:
    """The typography of a document's running text; `edges` are the left edges at which paragraphs start."""

    size: float
    bold: bool
    edges: frozenset[int]

    @classmethod
    def of(cls, paragraphs: Iterable[Element]) -> Self:
        """Measure by characters, so that a hundred page numbers weigh less than a page of text."""
        styles: Counter[tuple[float, bool]] = Counter()
        edges: Counter[int] = Counter()
        for element in paragraphs:
            if element.font_size is not None and (place := _first_place(element)):
                styles[element.font_size, element.bold] += len(element.text)
                edges[round(place.box.x1)] += len(element.text)
        size, bold = styles.most_common(1)[0][0] if styles else (0.0, False)
        least = EDGE_SHARE * sum(edges.values())
        return cls(size, bold, frozenset(edge for edge, chars in edges.items() if chars >= least))

    def is_heading(self, element: Element) -> bool:
        """Whether a paragraph looks and reads like a heading."""
        size = element.font_size
        if element.kind is not Kind.PARAGRAPH or size is None or not _reads_like_heading(element):
            return False
        if size >= LARGER * self.size:
            return True
        stands_out = element.bold and not self.bold and size >= NOT_SMALLER * self.size
        return stands_out and self._is_aligned(element)

    def _is_aligned(self, element: Element) -> bool:
        """Whether it starts where paragraphs start, or is centred; bold column heads of tables do neither."""
        boxes = [line.box for line in element.located.boxes()]
        left = min(box.x1 for box in boxes)
        place = _first_place(element)
        if place is None or any(abs(left - edge) <= SAME_EDGE for edge in self.edges):
            return True
        return all(abs(box.x1 + box.x2 - place.page.width) <= 2 * SAME_EDGE for box in boxes)


def _reads_like_heading(element: Element) -> bool:
    text = element.text
    if len(text) > HEADING_CHARS or sum(map(str.isalpha, text)) < FEWEST_LETTERS:
        return False
    if text.endswith((".", ",", ";", ":")) and not NUMBERED.fullmatch(text):
        return False
    boxes = [line.box for line in element.located.boxes()]
    if any(box.y2 - box.y1 > box.x2 - box.x1 for box in boxes):
        return False  # a stamp along the margin
    cells = sum(_same_row(left, right) for left, right in pairwise(boxes))
    is_row = cells > (1 if NUMBERED.match(text) else 0)
    return not is_row and len(boxes) - cells <= HEADING_LINES


def _same_row(left: Box, right: Box) -> bool:
    return right.x1 >= left.x2 and right.y1 < (left.y1 + left.y2) / 2 < right.y2
