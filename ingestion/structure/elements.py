"""Document structure from the type on the page: headings and their levels, lists, running heads and feet.

Extractors see one page at a time. This step sees the whole document, so it knows the running text, the lines
that are repeated on many pages, the words that lines part, the tables that the next page continues, and
whether the number of a heading continues one before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.locations import LocatedText
from extract.base import Element, Kind
from ingestion.structure.continued_tables import join_continued_tables
from ingestion.structure.headings import NAMED_CHARS, Heading, find_headings
from ingestion.structure.levels import heading_levels
from ingestion.structure.parted_words import join_parted_words
from ingestion.structure.places import line_boxes
from ingestion.structure.running_lines import mark_running_lines
from ingestion.structure.typography import Type, Typography, is_in_capitals

LIST_ITEM = re.compile(r"([•●○▪■◦‣·–—]|[-*]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\([ivx]+\))\s")
# The lines of one heading: their middles differ by so many points, their tops by so many times their size.
SAME_MIDDLE = 6.0
LINE_PITCH = 1.9


def structure_elements(elements: Sequence[Element]) -> list[Element]:
    """Return the elements classified as headings (with level), list items, running heads and feet."""
    marked = join_continued_tables(mark_running_lines(join_parted_words(elements)))
    typography = Typography.of(element for element in marked if element.kind is Kind.PARAGRAPH)
    whole, headings = _join_lines(marked, find_headings(marked, typography))
    levels = heading_levels(whole, headings)
    return [
        replace(element, kind=Kind.HEADING, level=level) if level else _as_list_item(element)
        for element, level in zip(whole, levels, strict=True)
    ]


def _join_lines(
    elements: Sequence[Element], found: Sequence[Heading | None]
) -> tuple[list[Element], list[Heading | None]]:
    """Join the centred lines of a heading that the reader has taken for paragraphs of their own."""
    whole: list[Element] = []
    headings: list[Heading | None] = []
    for element, heading in zip(elements, found, strict=True):
        if heading and not heading.label and headings and headings[-1] and _continues(element, whole[-1]):
            whole[-1] = replace(
                whole[-1], located=LocatedText.join((whole[-1].located, element.located), " ")
            )
        else:
            whole.append(element)
            headings.append(heading)
    return whole, headings


def _continues(element: Element, above: Element) -> bool:
    """Whether a line of the same type stands close below another one, in its middle."""
    is_alike = Type.of(element) == Type.of(above) and is_in_capitals(element.text) == is_in_capitals(
        above.text
    )
    if not is_alike or element.located.page_number() != above.located.page_number():
        return False
    upper, lower = line_boxes(above)[-1], line_boxes(element)[0]
    is_centred = abs(upper.x1 + upper.x2 - lower.x1 - lower.x2) <= 2 * SAME_MIDDLE
    is_near = 0 <= lower.y1 - upper.y1 <= LINE_PITCH * (element.font_size or 0.0)
    return is_centred and is_near and len(element.text) + len(above.text) <= NAMED_CHARS


def _as_list_item(element: Element) -> Element:
    is_item = element.kind is Kind.PARAGRAPH and LIST_ITEM.match(element.text)
    return replace(element, kind=Kind.LIST_ITEM) if is_item else element
