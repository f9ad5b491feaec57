"""Which paragraphs are headings: by their type, by numbers that the document counts, by what follows them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.locations import Box
from core.text.numbering import Counting, Label, counted, labels
from extract.base import Element, Kind
from ingestion.structure.places import first_place_on_page, line_boxes
from ingestion.structure.typography import Type, Typography, is_in_capitals

# A heading's type is so many times the size of the running text, or bold and not smaller than it.
LARGER, NOT_SMALLER = 1.12, 0.95
HEADING_CHARS, HEADING_LINES = 160, 3
# “Item 5. Market for Registrant's Common Equity, …” goes on for longer.
NAMED_CHARS, NAMED_LINES = 280, 5
SAME_EDGE = 3.0
# A heading hangs at most so many points left of the paragraph below it.
HANGING = 45.0
FEWEST_LETTERS = 3
# A title in italics or capitals is followed by a paragraph, and is not the only one of its kind.
TITLE_CHARS, PARAGRAPH_CHARS, FEWEST_ALIKE = 90, 80, 2
# Cells of a row follow each other, so many apart at most.
CELL_CHARS, BESIDE = 80, 4
# What stands on a page so often is a cell, too.
OFTEN = 3
SENTENCE_INSIDE = re.compile(r"[.;:!?]\s+\S")
ENDS = (".", ",", ";", ":")
# Marks that lead from an author to an address.
NOTE_MARKS = re.compile(r"[†‡§¶∗*@]|\w\d,\d")
COMMENT = re.compile(
    r"(fig(ure)?\.?|table|chart|exhibit|source|note:|algorithm|equation)\s*[\dIVX]+\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading's level follows from: how it is set, and the number by which the document counts it."""

    type: Type
    capitals: bool
    label: Label | None = None


def find_headings(elements: Sequence[Element], typography: Typography) -> list[Heading | None]:
    """Return for each element what makes it a heading, or None."""
    followed = [_next_paragraph(elements, at) for at in range(len(elements))]
    candidates = [
        _reads_like_heading(element)
        and (_stands_out(element, typography) or _is_plain_title(element, after))
        and not _is_cell(elements, at)
        for at, (element, after) in enumerate(zip(elements, followed, strict=True))
    ]
    repeated = Counter((element.located.page_number(), element.text) for element in elements)
    candidates = [
        is_one and repeated[element.located.page_number(), element.text] < OFTEN
        for is_one, element in zip(candidates, elements, strict=True)
    ]
    numbers = counted(
        [list(labels(e.text)) if is_one else [] for e, is_one in zip(elements, candidates, strict=True)]
    )
    titles = _titles(elements, candidates, followed, typography)
    return [
        Heading(Type.of(element), is_in_capitals(element.text), label)
        if candidates[at] and (label or at in titles or _is_set_as_heading(element, followed[at], typography))
        else None
        for at, (element, label) in enumerate(zip(elements, numbers, strict=True))
    ]


def _next_paragraph(elements: Sequence[Element], at: int) -> Element | None:
    """Return the paragraph that follows on the same page."""
    after = elements[at + 1] if at + 1 < len(elements) else None
    is_near = (
        after
        and after.kind is Kind.PARAGRAPH
        and after.located.page_number() == elements[at].located.page_number()
    )
    return after if is_near else None


# --- By its words ------------------------------------------------------------------------------------------


def _reads_like_heading(element: Element) -> bool:
    if element.kind is not Kind.PARAGRAPH or element.font_size is None:
        return False
    text = element.text
    label = next(labels(text), None)
    is_named = label is not None and label.counting is Counting.NAMED
    if (
        len(text) > (NAMED_CHARS if is_named else HEADING_CHARS)
        or sum(map(str.isalpha, text)) < FEWEST_LETTERS
    ):
        return False
    if COMMENT.match(text) or (label is None and len(NOTE_MARKS.findall(text)) > 1):
        return False
    if text.endswith(ENDS) and not (label and _is_one_phrase(text, label)):
        return False
    boxes = line_boxes(element)
    cells = sum(_same_row(left, right) for left, right in pairwise(boxes))
    if _is_upright(element) or cells > (1 if label else 0) or (cells and text[-1].isdigit()):
        return False
    return len(boxes) - cells <= (NAMED_LINES if is_named else HEADING_LINES)


def _is_one_phrase(text: str, label: Label) -> bool:
    """Whether a text that ends in a full stop has no other one, and so may be a title: “Item 1. Business.”"""
    return text.endswith(".") and not SENTENCE_INSIDE.search(text, label.end)


def _is_upright(element: Element) -> bool:
    """Whether a line runs from bottom to top, as a stamp along the margin does; a lone “1” is high anyhow."""
    boxes = element.located.boxes()
    longest = max((run.words[-1][1] - run.words[0][0] for run in element.located.runs), default=0)
    return longest >= FEWEST_LETTERS and all(
        line.box.y2 - line.box.y1 > line.box.x2 - line.box.x1 for line in boxes
    )


def _is_cell(elements: Sequence[Element], at: int) -> bool:
    """Whether other short texts stand beside it: then it is a cell of a table that was not taken for one."""
    if any(True for _ in labels(elements[at].text)):
        return False
    boxes, page = line_boxes(elements[at]), elements[at].located.page_number()
    near = [*elements[max(at - BESIDE, 0) : at], *elements[at + 1 : at + 1 + BESIDE]]
    return any(
        len(other.text) <= CELL_CHARS
        and other.kind is Kind.PARAGRAPH
        and other.located.page_number() == page
        and any(_is_beside(box, boxes[0]) for box in line_boxes(other))
        for other in near
    )


def _is_beside(one: Box, other: Box) -> bool:
    is_apart = one.x1 >= other.x2 or other.x1 >= one.x2
    return is_apart and one.y1 < (other.y1 + other.y2) / 2 < one.y2


def _same_row(left: Box, right: Box) -> bool:
    return right.x1 >= left.x2 and right.y1 < (left.y1 + left.y2) / 2 < right.y2


# --- By its type -------------------------------------------------------------------------------------------


def _stands_out(element: Element, typography: Typography) -> bool:
    """Whether it differs from running text at all, and is not smaller."""
    running, own = _running_type(element, typography), Type.of(element)
    if own.size < NOT_SMALLER * running.size:
        return False
    return own.size >= LARGER * running.size or own[1:] != running[1:] or is_in_capitals(element.text)


def _is_set_as_heading(element: Element, after: Element | None, typography: Typography) -> bool:
    """Whether it is larger than running text, or bold and where paragraphs begin."""
    running, own = _running_type(element, typography), Type.of(element)
    if own.size >= LARGER * running.size:
        return True
    return own.bold and not running.bold and _is_aligned(element, after, typography)


def _running_type(element: Element, typography: Typography) -> Type:
    return typography.on_page(element.located.page_number() or 0)


def _is_aligned(element: Element, after: Element | None, typography: Typography) -> bool:
    """Whether it starts where paragraphs start, left of the next one, or is centred; column heads do not."""
    place, boxes = first_place_on_page(element), line_boxes(element)
    left = min((box.x1 for box in boxes), default=0.0)
    if place is None or any(abs(left - edge) <= SAME_EDGE for edge in typography.edges):
        return True
    if after and -SAME_EDGE <= min(box.x1 for box in line_boxes(after)) - left <= HANGING:
        return True
    return all(abs(box.x1 + box.x2 - place.page.width) <= 2 * SAME_EDGE for box in boxes)


# --- By what follows ---------------------------------------------------------------------------------------


def _is_plain_title(element: Element, after: Element | None) -> bool:
    """Whether a text like “3.1 Scope”, set as running text, stands above a paragraph."""
    label = next(labels(element.text), None)
    return bool(
        label and label.depth > 1 and element.text[label.end :][:1].isupper() and _heads(element, after)
    )


def _titles(
    elements: Sequence[Element],
    candidates: Sequence[bool],
    followed: Sequence[Element | None],
    typography: Typography,
) -> set[int]:
    """Return the positions of lines in italics or capitals above paragraphs, but for one of its kind."""
    found = [
        at
        for at, (element, is_candidate, after) in enumerate(zip(elements, candidates, followed, strict=True))
        if is_candidate
        and element.text[:1].isupper()
        and _heads(element, after)
        and after
        and Type.of(after) == _running_type(element, typography)
        and _is_aligned(element, after, typography)
    ]
    alike = Counter(_look(elements[at]) for at in found)
    return {at for at in found if alike[_look(elements[at])] >= FEWEST_ALIKE}


def _heads(element: Element, after: Element | None) -> bool:
    """Whether a short line is followed by a paragraph."""
    return after is not None and len(element.text) <= TITLE_CHARS and len(after.text) >= PARAGRAPH_CHARS


def _look(element: Element) -> tuple[Type, bool]:
    return Type.of(element), is_in_capitals(element.text)
