"""Document structure from the type on the page: headings and their levels, lists, running heads and feet.

Extractors see one page at a time. This step sees the whole document, so it knows the running text, the lines
that are repeated on many pages, the words that lines part, the tables that the next page continues, and
whether the number of a heading continues one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.locations import LocatedText
from core.text.numbering import is_label_alone, labels
from extract.base import Element, Kind
from ingestion.structure.continued_tables import join_continued_tables
from ingestion.structure.heading_words import NAMED_CHARS
from ingestion.structure.headings import Heading, find_headings
from ingestion.structure.levels import heading_levels
from ingestion.structure.lists import as_list_item
from ingestion.structure.paragraphs import join_paragraphs
from ingestion.structure.parted_words import join_parted_words
from ingestion.structure.places import line_boxes
from ingestion.structure.reading_order import in_reading_order
from ingestion.structure.run_in import mark_run_in_headings
from ingestion.structure.running_lines import mark_running_lines
from ingestion.structure.table_texts import attach_captions_and_notes
from ingestion.structure.typography import Typography, is_in_capitals, look_of

# The lines of one heading: their middles or left edges differ by so many points, their tops by so many times
# their size; lines that begin at one edge are closer, because headings follow each other so.
SAME_MIDDLE, SAME_EDGE = 6.0, 3.0
LINE_PITCH, CLOSE_PITCH = 1.9, 1.35


def structure_elements(
    elements: Sequence[Element], recognised: frozenset[int] = frozenset()
) -> list[Element]:
    """Return the elements in reading order, classified as headings (with level), list items, running heads
    and feet. `recognised` are the numbers of pages that were images."""
    marked = join_continued_tables(in_reading_order(mark_running_lines(elements)))
    marked = join_parted_words(join_paragraphs(marked))
    typography = Typography.of(element for element in marked if element.kind is Kind.PARAGRAPH)
    whole, headings = _join_lines(marked, find_headings(marked, typography, recognised))
    levels = heading_levels(whole, headings)
    classified = [
        replace(element, kind=Kind.HEADING, level=level, lead=0) if level else as_list_item(element)
        for element, level in zip(whole, levels, strict=True)
    ]
    return mark_run_in_headings(attach_captions_and_notes(classified, typography.whole.size))


def _join_lines(
    elements: Sequence[Element], found: Sequence[Heading | None]
) -> tuple[list[Element], list[Heading | None]]:
    """Join the lines of a heading that the reader has taken for paragraphs of their own."""
    whole: list[Element] = []
    headings: list[Heading | None] = []
    for element, heading in zip(elements, found, strict=True):
        before = headings[-1] if headings else None
        if before and heading and not heading.label and _is_one_heading(element, whole[-1]):
            located = LocatedText.join((whole[-1].located, element.located), " ")
            whole[-1] = replace(whole[-1], located=located)
            headings[-1] = replace(before, type=max(before.type, heading.type))
        elif heading and not heading.label and whole and _leads_to_heading(whole[-1], element):
            located = LocatedText.join((whole[-1].located, element.located), " ")
            whole[-1], headings[-1] = replace(element, located=located), heading
        else:
            whole.append(element)
            headings.append(heading)
    return whole, headings


def _is_one_heading(element: Element, above: Element) -> bool:
    """Whether a heading goes on with a line of the same type, or is the title of the number above it."""
    if element.located.page_number() != above.located.page_number():
        return False
    if len(element.text) + len(above.text) > NAMED_CHARS:
        return False
    return is_label_alone(above.text) or (look_of(element) == look_of(above) and _continues(element, above))


def _leads_to_heading(above: Element, heading: Element) -> bool:
    """Whether a line is the first of a heading, though it is none alone: “Origins,” or “CHAPTER”."""
    if above.kind is not Kind.PARAGRAPH:
        return False
    if is_label_alone(above.text):
        pitch = line_boxes(heading)[0].y1 - line_boxes(above)[-1].y1
        is_near = 0 <= pitch <= LINE_PITCH * (heading.font_size or 0.0)
        return is_near and is_in_capitals(above.text) and _is_one_heading(heading, above)
    return above.text.endswith((",", ":")) and _is_one_heading(heading, above)


def _continues(element: Element, above: Element) -> bool:
    """Whether a line stands close below another one, in its middle or at its edge."""
    upper, lower = line_boxes(above)[-1], line_boxes(element)[0]
    size, pitch = element.font_size or 0.0, lower.y1 - upper.y1
    is_centred = abs(upper.x1 + upper.x2 - lower.x1 - lower.x2) <= 2 * SAME_MIDDLE
    if is_centred and 0 <= pitch <= LINE_PITCH * size:
        return True
    is_below = any(abs(edge - lower.x1) <= SAME_EDGE for edge in (upper.x1, _title_edge(above)))
    return is_below and 0 <= pitch <= CLOSE_PITCH * size


def _title_edge(element: Element) -> float:
    """Return where the title begins behind its number, or where the text begins."""
    label = next(labels(element.text), None)
    words = [word for run in element.located.runs for word in run.words]
    edge: float = next((word[2] for word in words if label and word[0] >= label.end), words[0][2])
    return edge
