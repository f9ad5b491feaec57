"""Running heads and feet: lines that come back at the same place of many pages, and page numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.locations import OnPage
from core.text.numbering import is_label_alone
from extract.base import Element, Kind
from ingestion.structure.places import first_place_on_page, line_boxes
from ingestion.structure.typography import Typography

# They stand in this share of the page's height, or, as a line alone, in a larger one if no other stands
# further out, at the same height within so many points. They occur on at least FEWEST pages, and on
# PAGES_SHARE of all pages up to ENOUGH.
MARGIN, OUTERMOST_MARGIN = 0.12, 0.2
SAME_HEIGHT = 6.0
FEWEST, PAGES_SHARE, ENOUGH = 3, 0.1, 10
LARGE = 1.12
# “Form 10-K 58” at the end of page 60; where it stands depends on how much the page holds.
COUNTING_CHARS = 120
STARTS, STOPS = re.compile(r"\d{1,5}\b"), re.compile(r"\b\d{1,5}\Z")
# Of the lines at one place, so many begin as others do; each stands on one line, in up to three parts.
CHANGING_SHARE, BEGINNING_CHARS, RUNNING_BOXES = 0.7, 12, 3

Key = tuple[str, int]
"""The text without its digits, and the height at which it stands."""


def mark_running_lines(elements: Sequence[Element]) -> list[Element]:
    """Mark page numbers, and what stands at one place of many pages (digits ignored), as header or footer."""
    places = [first_place_on_page(element) for element in elements]
    size = Typography.of(element for element in elements if element.kind is Kind.PARAGRAPH).whole.size
    outermost = _outermost(elements, places)
    keys = [
        _running_key(
            element, place, size, OUTERMOST_MARGIN if at in outermost and _is_line(element) else MARGIN
        )
        for at, (element, place) in enumerate(zip(elements, places, strict=True))
    ]
    pages_with: defaultdict[Key, set[int]] = defaultdict(set)
    for key, place in zip(keys, places, strict=True):
        if key and place:
            pages_with[key].add(place.page.number)
    page_count = len({place.page.number for place in places if place})
    enough = min(max(FEWEST, PAGES_SHARE * page_count), ENOUGH)
    running = {
        *_page_numbers(elements, size, outermost, enough),
        *_changing_lines(elements, keys, outermost, enough),
        *(at for at, key in enumerate(keys) if key and len(pages_with[key]) >= enough),
    }
    return [
        replace(element, kind=Kind.PAGE_HEADER if _is_above(place) else Kind.PAGE_FOOTER)
        if place and at in running
        else element
        for at, (element, place) in enumerate(zip(elements, places, strict=True))
    ]


def _outermost(elements: Sequence[Element], places: Sequence[OnPage | None]) -> dict[int, int]:
    """Return the positions of the first and the last line of each page, with the page's number."""
    on_page: defaultdict[int, list[int]] = defaultdict(list)
    for at, (element, place) in enumerate(zip(elements, places, strict=True)):
        if place and element.kind is not Kind.HIDDEN:
            on_page[place.page.number].append(at)
    found: dict[int, int] = {}
    for page, positions in on_page.items():
        tops = {at: min(box.y1 for box in line_boxes(elements[at])) for at in positions}
        found[min(tops, key=tops.__getitem__)] = page
        found[max(tops, key=tops.__getitem__)] = page
    return found


def _page_numbers(
    elements: Sequence[Element], size: float, outermost: Mapping[int, int], enough: float
) -> set[int]:
    """Return the positions of lines that begin or end with a number that keeps its distance to the page's."""
    counting: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for at, page in outermost.items():
        text = elements[at].text
        # “3 Methods” in large type on page 3 is a heading.
        is_title = (elements[at].font_size or 0.0) >= LARGE * size and any(map(str.isalpha, text))
        if elements[at].kind is Kind.PARAGRAPH and len(text) <= COUNTING_CHARS and not is_title:
            for side, found in enumerate((STARTS.match(text), STOPS.search(text))):
                if found:
                    counting[side, int(found[0]) - page].append(at)
    return {at for positions in counting.values() if len(positions) >= enough for at in positions}


def _changing_lines(
    elements: Sequence[Element], keys: Sequence[Key | None], outermost: Mapping[int, int], enough: float
) -> Iterator[int]:
    """Yield lines that name the section of their page: where most lines begin as those of other pages do."""
    at_height: defaultdict[tuple[int, float | None], list[tuple[int, str]]] = defaultdict(list)
    for at in outermost:
        key = keys[at]
        if key and len(line_boxes(elements[at])) <= RUNNING_BOXES:
            at_height[key[1], elements[at].font_size].append((at, key[0][:BEGINNING_CHARS]))
    for lines in at_height.values():
        counts = Counter(beginning for _, beginning in lines)
        returning = sum(counts[beginning] > 1 for _, beginning in lines)
        if returning >= max(enough, CHANGING_SHARE * len(lines)):
            yield from (at for at, _ in lines)


def _running_key(element: Element, place: OnPage | None, running_size: float, margin: float) -> Key | None:
    """Return the key that an element shares with its repetitions, None outside the margins."""
    if place is None or element.kind is not Kind.PARAGRAPH:
        return None
    height = place.page.height
    boxes = [line.box for line in element.located.boxes()]
    above, below = max(box.y2 for box in boxes), min(box.y1 for box in boxes)
    if above > margin * height and below < (1 - margin) * height:
        return None
    # Large type with a number is a heading: “Version 4.6.1” stands at the top of many pages.
    is_large = (element.font_size or 0.0) >= LARGE * running_size
    is_slide = place.page.width > place.page.height
    # Slides that belong together have one title, and chapters begin with the same word.
    if is_large and (is_slide or is_label_alone(element.text)):
        return None
    text = element.text if is_large else re.sub(r"\d+", "#", element.text)
    return text, round(boxes[0].y1 / SAME_HEIGHT)


def _is_line(element: Element) -> bool:
    """Whether an element is one line, perhaps in parts: the first paragraph of many pages may be the same."""
    tops = [box.y1 for box in line_boxes(element)]
    return len(element.text) <= COUNTING_CHARS and max(tops) - min(tops) < SAME_HEIGHT


def _is_above(place: OnPage) -> bool:
    return place.box.y1 < place.page.height / 2
