"""Where elements stand on their pages."""

from __future__ import annotations

from core.locations import Box, OnPage
from extract.base import Element


def first_place_on_page(element: Element) -> OnPage | None:
    """Return the place of an element's first word, None for kinds of file without pages."""
    place = element.located.first_place()
    return place if isinstance(place, OnPage) else None


def line_boxes(element: Element) -> list[Box]:
    """Return the box of each line on its page."""
    return [line.box for line in element.located.boxes()]
