"""Lines of type for tests of structure."""

from __future__ import annotations

from core.locations import Box, LocatedText, OnPage, Page
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
        for element in structure_elements([*elements, *body()])
        if element.kind is Kind.HEADING
    ]


def section(title: str, **look: float | bool) -> list[Element]:
    """Return a line and a paragraph below it."""
    return [typed(title, **look), typed(BODY, y=140)]
