"""Lines of type for tests of structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.locations import Box, LocatedText, OnPage, Page, WordRun
from extract.base import Element, Kind
from ingestion.structure.elements import structure_elements

BODY = "The keepers wrote down the wind and the water every four hours, by day and by night, in ink."


def typed(
    text: str,
    *,
    y: float = 120,
    page: int = 1,
    size: float = 10,
    bold: bool = False,
    italic: bool = False,
    x: float = 72,
) -> Element:
    """Return a line of type; words are as wide as they have letters."""
    words = []
    for word in text.split():
        width = 0.5 * size * len(word)
        words.append((word, OnPage(Page(page, 595, 842), int(y), Box(x, y, x + width, y + size))))
        x += width + 3
    return Element(Kind.PARAGRAPH, LocatedText.of_words(words), font_size=size, bold=bold, italic=italic)


def body(page: int = 1, size: float = 10, x: float = 72) -> list[Element]:
    """Return a page of running text."""
    return [typed(BODY, y=y, page=page, size=size, x=x) for y in range(200, 600, 20)]


def headings(*elements: Element) -> list[tuple[int | None, str]]:
    """Return level and text of the headings among elements that stand before running text."""
    return [
        (element.level, element.text)
        for element in structure_elements(list(stacked(*elements, *body())))
        if element.kind is Kind.HEADING
    ]


def stacked(*elements: Element) -> Iterator[Element]:
    """Yield the elements of each page below each other, where they would cover or precede each other."""
    bottoms: dict[int | None, float] = {}
    shifts: dict[int | None, float] = {}
    for element in elements:
        page = element.located.page_number()
        top = min(box.box.y1 for box in element.located.boxes())
        shift = shifts.get(page, 0.0)
        if top + shift < bottoms.get(page, 0.0) - 12:
            shift = shifts[page] = bottoms[page] + 10 - top
        moved = _lower(element, shift)
        bottoms[page] = max(box.box.y2 for box in moved.located.boxes())
        yield moved


def _lower(element: Element, by: float) -> Element:
    runs = tuple(
        WordRun(
            run.place,
            tuple((start, end, x1, y1 + by, x2, y2 + by) for start, end, x1, y1, x2, y2 in run.words),
        )
        for run in element.located.runs
    )
    return replace(element, located=LocatedText(element.text, runs))


def section(title: str, **look: float | bool) -> list[Element]:
    """Return a line and a paragraph below it."""
    return [typed(title, **look), typed(BODY, y=140)]
