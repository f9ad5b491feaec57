"""What stands around each element of a document, and how the element differs from running text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.locations import Box
from extract.base import Element, Kind
from ingestion.structure.heading_words import HEADING_LINES, sure_label
from ingestion.structure.places import first_place_on_page, line_boxes
from ingestion.structure.typography import Type, Typography, is_in_capitals

# A heading's type is so many times the size of the running text, or bold and not smaller than it.
LARGER, NOT_SMALLER = 1.12, 0.95
# Recognition measures the ink of a line, which depends on its letters. A title is narrower than the paragraph
# below it.
SURELY_LARGER, NARROW = 1.25, 0.85
SAME_EDGE, SAME_MIDDLE = 3.0, 6.0
# A heading hangs at most so many points left of the paragraph below it. Terms that are explained stand so far
# left of the explanation.
HANGING, EXPLAINED = 45.0, 6.0
TITLE_CHARS, PARAGRAPH_CHARS = 90, 80
# “The table below shows …” is no longer than this.
LEADING_CHARS = 200
# Cells of a row follow each other, so many apart at most.
CELL_CHARS, BESIDE = 80, 4


LINE_NUMBER = re.compile(r"\d{1,5}(?=\s)")


class Surroundings:
    """The elements of a document, each with what follows it on its page; `at` is an element's position."""

    def __init__(
        self, elements: Sequence[Element], typography: Typography, recognised: frozenset[int]
    ) -> None:
        self.elements, self.typography, self.recognised = elements, typography, recognised
        self.pages = [element.located.page_number() for element in elements]
        self.after = [self.next(at) for at in range(len(elements))]

    def type_of(self, at: int) -> Type:
        """Return how an element is set; recognition sees a size roughly, and no weight."""
        own = Type.of(self.elements[at])
        if not self.is_recognised(at) or self.is_surely_larger(at):
            return own
        return Type(self.running(at).size, True, False)

    def next(self, at: int) -> Element | None:
        """Return what follows on the same page."""
        is_last = at + 1 >= len(self.elements) or self.pages[at] is None
        return None if is_last or self.pages[at + 1] != self.pages[at] else self.elements[at + 1]

    def table_below(self, at: int) -> Element | None:
        """Return the table below, perhaps with a paragraph that leads to it."""
        after = self.after[at]
        if after and after.kind is Kind.PARAGRAPH and not after.bold and len(after.text) <= LEADING_CHARS:
            after = self.after[at + 1]
        is_below = after and after.kind is Kind.TABLE and bottom_of(self.elements[at]) <= top_of(after)
        return after if is_below else None

    def is_recognised(self, at: int) -> bool:
        """Whether an element's page was an image."""
        return self.pages[at] in self.recognised

    def is_surely_larger(self, at: int) -> bool:
        """Whether an element is larger than running text even if its size is a guess."""
        return Type.of(self.elements[at]).size >= SURELY_LARGER * self.running(at).size

    def is_narrow(self, at: int) -> bool:
        """Whether a line begins as a title does, and ends before those of the paragraph below."""
        element, after = self.elements[at], self.after[at]
        if not (element.text[0].isupper() or element.text[0].isdigit()):
            return False
        if after is None:
            return True
        widths = [box.x2 - box.x1 for box in line_boxes(after)]
        return max(box.x2 - box.x1 for box in line_boxes(element)) <= NARROW * max(widths)

    def running(self, at: int) -> Type:
        """Return the type of the running text on an element's page."""
        return self.typography.on_page(self.pages[at] or 0)

    def left(self, at: int) -> float:
        """Return the left edge of an element in points."""
        return left_of(self.elements[at])

    def stands_smaller(self, at: int) -> bool:
        """Whether an element is smaller than running text."""
        return Type.of(self.elements[at]).size < NOT_SMALLER * self.running(at).size

    def stands_out(self, at: int) -> bool:
        """Whether it differs from running text at all, and is not smaller."""
        element, running, own = self.elements[at], self.running(at), Type.of(self.elements[at])
        if self.stands_smaller(at):
            return False
        if own.size >= LARGER * running.size:
            return True
        # If only its beginning is emphasised, that stands in the line of its text.
        if element.lead and not sure_label(element.text):
            return False
        return own[1:] != running[1:] or is_in_capitals(element.text)

    def is_plain_title(self, at: int) -> bool:
        """Whether a text like “3.1 Scope”, set as running text, stands above a paragraph."""
        text = self.elements[at].text
        label = sure_label(text)
        is_larger = Type.of(self.elements[at]).size > self.running(at).size
        return bool(
            label and label.depth > 1 and (text[label.end :][:1].isupper() or is_larger) and self.heads(at)
        )

    def is_in_listing(self, at: int) -> bool:
        """Whether the texts before and after have the numbers before and after: lines of a program."""
        if not 0 < at < len(self.elements) - 1:
            return False
        before, own, after = (LINE_NUMBER.match(each.text) for each in self.elements[at - 1 : at + 2])
        if not (before and own and after):
            return False
        return int(before[0]) + 1 == int(own[0]) == int(after[0]) - 1

    def heads(self, at: int) -> bool:
        """Whether a short line is followed by a paragraph."""
        after = self.after[at]
        if after is None or after.kind is not Kind.PARAGRAPH or len(self.elements[at].text) > TITLE_CHARS:
            return False
        return len(after.text) >= (PARAGRAPH_CHARS / 2 if after.text.endswith(":") else PARAGRAPH_CHARS)

    def is_running(self, at: int) -> bool:
        """Whether an element is set as running text."""
        return at < len(self.elements) and Type.of(self.elements[at]) == self.running(at)

    def is_explained(self, at: int, after: Element) -> bool:
        """Whether a text stands indented below, unlike most of the text: headings may hang left of most."""
        begun, own, others = self.typography.begun, round(self.left(at)), round(left_of(after))
        is_indented = EXPLAINED < others - own <= 2 * HANGING
        return is_indented and begun.get(others, 0) < begun.get(own, 0)

    def is_aligned(self, at: int) -> bool:
        """Whether it starts where paragraphs start, left of the next one, or is in the middle; column heads
        do not."""
        left, after = self.left(at), self.after[at]
        if any(abs(left - edge) <= SAME_EDGE for edge in self.typography.edges):
            return True
        if after and after.kind is Kind.PARAGRAPH:
            boxes = line_boxes(after)
            if -SAME_EDGE <= left_of(after) - left <= HANGING:
                return True
            # The paragraph's first line is indented, and so is its heading.
            if left_of(after) <= left <= boxes[0].x1 + SAME_EDGE:
                return True
        return self.is_in_middle(at)

    def is_in_middle(self, at: int) -> bool:
        """Whether each line is in the middle of the page, or of the paragraph below."""
        place, after = first_place_on_page(self.elements[at]), self.after[at]
        if place is None:
            return True
        boxes = line_boxes(self.elements[at])
        if all(abs(box.x1 + box.x2 - place.page.width) <= SAME_MIDDLE for box in boxes):
            return True
        if after is None or after.kind is not Kind.PARAGRAPH or len(line_boxes(after)) < HEADING_LINES:
            return False
        ends = left_of(after) + max(box.x2 for box in line_boxes(after))
        return all(abs(box.x1 + box.x2 - ends) <= SAME_MIDDLE for box in boxes)

    def ends_with(self, at: int, other: int) -> bool:
        """Whether the lines of two elements end at one right edge."""
        one, two = (max(box.x2 for box in line_boxes(self.elements[each])) for each in (at, other))
        return abs(one - two) <= SAME_EDGE

    def is_centred_with(self, at: int, other: int) -> bool:
        """Whether each line of two elements has one middle, that of the page or another."""
        one, *others = (box.x1 + box.x2 for each in (other, at) for box in line_boxes(self.elements[each]))
        return all(abs(one - middle) <= SAME_MIDDLE for middle in others)

    def is_cell(self, at: int) -> bool:
        """Whether other short texts stand beside it: a cell of a table that was not taken for one."""
        if sure_label(self.elements[at].text):
            return False
        boxes = line_boxes(self.elements[at])
        around = range(max(at - BESIDE, 0), min(at + 1 + BESIDE, len(self.elements)))
        return any(
            other != at
            and self.pages[other] == self.pages[at]
            and len(self.elements[other].text) <= CELL_CHARS
            and self.elements[other].kind is Kind.PARAGRAPH
            and any(_is_beside(box, boxes[0]) for box in line_boxes(self.elements[other]))
            for other in around
        )


def left_of(element: Element) -> float:
    """Return the left edge of an element in points."""
    return min((box.x1 for box in line_boxes(element)), default=0.0)


def top_of(element: Element) -> float:
    """Return the upper edge of an element in points."""
    return min(box.y1 for box in line_boxes(element))


def bottom_of(element: Element) -> float:
    """Return the lower edge of an element in points."""
    return max(box.y2 for box in line_boxes(element))


def _is_beside(one: Box, other: Box) -> bool:
    is_apart = one.x1 >= other.x2 or other.x1 >= one.x2
    return is_apart and one.y1 < (other.y1 + other.y2) / 2 < one.y2
