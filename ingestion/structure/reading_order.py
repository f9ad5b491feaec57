"""Reading order: what stands above comes first, whenever a file draws it.

PDFs of web pages draw headings with a rule below them after all other text. A heading then followed the text
that it heads. Only texts that stand in one column are compared, so columns keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from core.locations import Box
from extract.base import Element
from ingestion.structure.places import line_boxes

# On a page with more elements, which is no page of text, the order stays.
MOST_ELEMENTS = 400
# Two texts stand in one column if they share so much of the narrower one's width.
SAME_COLUMN = 0.5
# Boxes of neighbouring lines may overlap by so many points.
OVERLAP = 2.0
MARK_CHARS = 4


def in_reading_order(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with those moved up that stand above others of their column."""
    ordered: list[Element] = []
    for page, group in groupby(elements, key=lambda element: element.located.page_number()):
        on_page = list(group)
        ordered += on_page if page is None else _order_page(on_page)
    return ordered


def _order_page(elements: list[Element]) -> Iterator[Element]:
    if len(elements) > MOST_ELEMENTS:
        yield from elements
        return
    placed: list[tuple[Box, Element]] = []
    last = -1
    for element in elements:
        around = _around(element)
        below = (at for at, (other, _) in enumerate(placed) if _is_above(around, other))
        # A mark, such as “(d)” or “®”, stays with the text after which it is drawn.
        last = last + 1 if len(element.text) <= MARK_CHARS else next(below, len(placed))
        placed.insert(last, (around, element))
    yield from (element for _, element in placed)


def _around(element: Element) -> Box:
    boxes = line_boxes(element)
    return Box(
        min(box.x1 for box in boxes),
        min(box.y1 for box in boxes),
        max(box.x2 for box in boxes),
        max(box.y2 for box in boxes),
    )


def _is_above(one: Box, other: Box) -> bool:
    shared = min(one.x2, other.x2) - max(one.x1, other.x1)
    is_one_column = shared >= SAME_COLUMN * min(one.x2 - one.x1, other.x2 - other.x1)
    return is_one_column and one.y2 <= other.y1 + OVERLAP
