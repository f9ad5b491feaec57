"""Running heads and feet: lines that come back at the same place of many pages, and page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from core.locations import OnPage
from extract.base import Element, Kind
from ingestion.structure.places import first_place_on_page, line_boxes

# They stand in this share of the page's height, at the same height within so many points. They occur on at
# least FEWEST pages, and on PAGES_SHARE of all pages up to ENOUGH.
MARGIN = 0.12
SAME_HEIGHT = 6.0
FEWEST, PAGES_SHARE, ENOUGH = 3, 0.1, 10
# “Form 10-K 58” at the end of page 60; where it stands depends on how much the page holds.
COUNTING_CHARS = 60
NUMBER = re.compile(r"\d{1,5}")


def mark_running_lines(elements: Sequence[Element]) -> list[Element]:
    """Mark page numbers, and what stands at one place of many pages (digits ignored), as header or footer."""
    places = [first_place_on_page(element) for element in elements]
    keys = [_running_key(element, place) for element, place in zip(elements, places, strict=True)]
    pages_with: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for key, place in zip(keys, places, strict=True):
        if key and place:
            pages_with[key].add(place.page.number)
    page_count = len({place.page.number for place in places if place})
    enough = min(max(FEWEST, PAGES_SHARE * page_count), ENOUGH)
    numbers = _page_numbers(elements, places, enough)
    return [
        replace(element, kind=Kind.PAGE_HEADER if _is_above(place) else Kind.PAGE_FOOTER)
        if place and (at in numbers or (key and len(pages_with[key]) >= enough))
        else element
        for at, (element, key, place) in enumerate(zip(elements, keys, places, strict=True))
    ]


def _page_numbers(elements: Sequence[Element], places: Sequence[OnPage | None], enough: float) -> set[int]:
    """Return the positions of first and last lines of pages whose number keeps its distance to the page's."""
    on_page: defaultdict[int, list[int]] = defaultdict(list)
    for at, (element, place) in enumerate(zip(elements, places, strict=True)):
        if place and element.kind is not Kind.HIDDEN:
            on_page[place.page.number].append(at)
    counting: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for page, positions in on_page.items():
        tops = {at: min(box.y1 for box in line_boxes(elements[at])) for at in positions}
        for at in {min(tops, key=tops.__getitem__), max(tops, key=tops.__getitem__)}:
            text = elements[at].text
            is_short = elements[at].kind is Kind.PARAGRAPH and len(text) <= COUNTING_CHARS
            if is_short and (found := NUMBER.findall(text)):
                counting[NUMBER.sub("#", text), int(found[-1]) - page].append(at)
    return {at for positions in counting.values() if len(positions) >= enough for at in positions}


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
