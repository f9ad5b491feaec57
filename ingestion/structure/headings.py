"""Which paragraphs are headings: by their type, by numbers that the document counts, by what follows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.locations import Box
from core.text.numbering import Label, counted, labels
from extract.base import Element, Kind
from ingestion.structure.heading_words import HEADING_LINES, is_sentence, reads_like_heading, sure_label
from ingestion.structure.lists import LIST_ITEM
from ingestion.structure.places import first_place_on_page, line_boxes
from ingestion.structure.typography import Look, Type, Typography, is_in_capitals, look_of

# A heading's type is so many times the size of the running text, or bold and not smaller than it.
LARGER, NOT_SMALLER = 1.12, 0.95
# Recognition measures the ink of a line, which depends on its letters. A title is narrower than the paragraph
# below it.
SURELY_LARGER, NARROW = 1.25, 0.85
SAME_EDGE, SAME_MIDDLE = 3.0, 6.0
# A heading hangs at most so many points left of the paragraph below it.
HANGING = 45.0
# A title in italics or capitals is followed by a paragraph, and is not the only one of its kind; a shorter
# text that leads to a list or table will do. Where so many are alike, the others of their kind need none.
TITLE_CHARS, PARAGRAPH_CHARS, FEWEST_ALIKE, MANY_ALIKE = 90, 80, 2, 5
FEWEST_SENTENCES = 3
# Terms that are explained stand so far left of the explanation, and there are so many of them.
EXPLAINED, FEWEST_TERMS = 6.0, 3
# “The table below shows …” is no longer than this.
LEADING_CHARS = 200
# Cells of a row follow each other, so many apart at most.
CELL_CHARS, BESIDE = 80, 4
# What stands on a page so often is a cell, too.
OFTEN = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading's level follows from: how it is set, and the number by which the document counts it."""

    type: Type
    capitals: bool
    label: Label | None = None


def find_headings(
    elements: Sequence[Element], typography: Typography, recognised: frozenset[int] = frozenset()
) -> list[Heading | None]:
    """Return for each element what makes it a heading, or None; `recognised` pages were images."""
    page = _Page(elements, typography, recognised)
    candidates = page.candidates()
    numbers = counted(
        [list(labels(e.text)) if is_one else [] for e, is_one in zip(elements, candidates, strict=True)]
    )
    terms = page.terms(candidates)
    titles = (page.titles(candidates) - terms) | page.sentences() | page.table_titles()
    titles |= page.recognised_titles()
    return [
        Heading(page.type_of(at), is_in_capitals(element.text), label)
        if at in titles or (candidates[at] and (label or (at not in terms and page.is_set_as_heading(at))))
        else None
        for at, (element, label) in enumerate(zip(elements, numbers, strict=True))
    ]


class _Page:
    """The elements of a document, each with what follows it on its page."""

    def __init__(
        self, elements: Sequence[Element], typography: Typography, recognised: frozenset[int]
    ) -> None:
        self._elements, self._typography, self._recognised = elements, typography, recognised
        self._pages = [element.located.page_number() for element in elements]
        self._after = [self._next(at) for at in range(len(elements))]

    def candidates(self) -> list[bool]:
        """Return which elements read like headings, stand out and are no cells."""
        found = [
            reads_like_heading(element)
            and (self._stands_out(at) or self._is_plain_title(at))
            and not self._is_cell(at)
            for at, element in enumerate(self._elements)
        ]
        repeated = Counter(zip(self._pages, (each.text for each in self._elements), strict=True))
        return [
            is_one and repeated[page, element.text] < OFTEN
            for is_one, page, element in zip(found, self._pages, self._elements, strict=True)
        ]

    def is_set_as_heading(self, at: int) -> bool:
        """Whether an element is larger than running text, or bold and where paragraphs begin."""
        running, own = self._running(at), Type.of(self._elements[at])
        if self._is_recognised(at):
            return self._is_surely_larger(at) and self._is_narrow(at)
        if own.size >= LARGER * running.size:
            return True
        return own.bold and not running.bold and self._is_aligned(at)

    def type_of(self, at: int) -> Type:
        """Return how an element is set; recognition sees a size roughly, and no weight."""
        own = Type.of(self._elements[at])
        if not self._is_recognised(at) or self._is_surely_larger(at):
            return own
        return Type(self._running(at).size, True, False)

    def recognised_titles(self) -> set[int]:
        """Return the positions of short lines above paragraphs, on pages whose type nobody knows."""
        return {
            at
            for at, element in enumerate(self._elements)
            if self._is_recognised(at)
            and reads_like_heading(element)
            and len(line_boxes(element)) == 1
            and len(element.text) <= TITLE_CHARS
            and (after := self._after[at])
            and after.kind is Kind.PARAGRAPH
            and len(line_boxes(after)) > 1
            and self._heads(at)
            and self._is_narrow(at)
            and self._is_aligned(at)
            and not self._is_cell(at)
        }

    def titles(self, candidates: Sequence[bool]) -> set[int]:
        """Return the positions of lines in italics or capitals above paragraphs, but for one of its kind."""
        possible = [
            at
            for at, is_candidate in enumerate(candidates)
            if is_candidate and self._elements[at].text[:1].isupper() and self._is_aligned(at)
        ]
        heading = {at for at in possible if self._heads(at) and self._is_running(at + 1)}
        alike = Counter(look_of(self._elements[at]) for at in heading)
        edges = {(look_of(self._elements[at]), self._left(at)) for at in heading}
        found = {at for at in heading if alike[look_of(self._elements[at])] >= FEWEST_ALIKE}
        for at in reversed(possible):
            look = look_of(self._elements[at])
            if alike[look] >= MANY_ALIKE and (look, self._left(at)) in edges and self._after[at]:
                found.add(at)
            if alike[look] >= FEWEST_ALIKE and at + 1 in found and self._after[at]:
                found.add(at)
        return found

    def sentences(self) -> set[int]:
        """Return the positions of sentences in bold type above paragraphs, if there are several alike."""
        found = [
            at
            for at, element in enumerate(self._elements)
            if is_sentence(element)
            and element.bold
            and not self._running(at).bold
            and self._after[at]
            and self._is_running(at + 1)
            and self._is_aligned(at)
            and not self._stands_smaller(at)
        ]
        alike = Counter(Type.of(self._elements[at]) for at in found)
        return {at for at in found if alike[Type.of(self._elements[at])] >= FEWEST_SENTENCES}

    def table_titles(self) -> set[int]:
        """Return the positions of bold lines above tables, in the middle or where the table begins."""
        return {
            at
            for at, element in enumerate(self._elements)
            if element.bold
            and reads_like_heading(element)
            and element.text[:1].isupper()
            and (table := self._table_below(at))
            and not self._is_cell(at)
            and (self._is_in_middle(at) or abs(_left(table) - self._left(at)) <= SAME_EDGE)
        }

    def terms(self, candidates: Sequence[bool]) -> set[int]:
        """Return the positions of bold terms that the indented texts below them explain."""
        indented: list[int] = []
        others: Counter[Look] = Counter()
        for at, is_candidate in enumerate(candidates):
            after = self._after[at]
            if not is_candidate or after is None or sure_label(self._elements[at].text):
                continue
            is_text = after.kind is Kind.PARAGRAPH and not LIST_ITEM.match(after.text)
            if is_text and self._is_explained(at, after):
                indented.append(at)
            else:
                others[look_of(self._elements[at])] += 1
        alike = Counter(look_of(self._elements[at]) for at in indented)
        return {
            at
            for at in indented
            if alike[look := look_of(self._elements[at])] >= max(FEWEST_TERMS, others[look])
            and look[0].size < LARGER * self._running(at).size
        }

    # --- One element ---------------------------------------------------------------------------------------

    def _next(self, at: int) -> Element | None:
        """Return what follows on the same page."""
        is_last = at + 1 >= len(self._elements) or self._pages[at] is None
        return None if is_last or self._pages[at + 1] != self._pages[at] else self._elements[at + 1]

    def _table_below(self, at: int) -> Element | None:
        """Return the table below, perhaps with a paragraph that leads to it."""
        after = self._after[at]
        if after and after.kind is Kind.PARAGRAPH and not after.bold and len(after.text) <= LEADING_CHARS:
            after = self._after[at + 1]
        is_below = after and after.kind is Kind.TABLE and _bottom(self._elements[at]) <= _top(after)
        return after if is_below else None

    def _is_recognised(self, at: int) -> bool:
        return self._pages[at] in self._recognised

    def _is_surely_larger(self, at: int) -> bool:
        return Type.of(self._elements[at]).size >= SURELY_LARGER * self._running(at).size

    def _is_narrow(self, at: int) -> bool:
        """Whether a line begins as a title does, and ends before those of the paragraph below."""
        element, after = self._elements[at], self._after[at]
        if not (element.text[0].isupper() or element.text[0].isdigit()):
            return False
        if after is None:
            return True
        widths = [box.x2 - box.x1 for box in line_boxes(after)]
        return max(box.x2 - box.x1 for box in line_boxes(element)) <= NARROW * max(widths)

    def _running(self, at: int) -> Type:
        return self._typography.on_page(self._pages[at] or 0)

    def _left(self, at: int) -> float:
        return _left(self._elements[at])

    def _stands_smaller(self, at: int) -> bool:
        return Type.of(self._elements[at]).size < NOT_SMALLER * self._running(at).size

    def _stands_out(self, at: int) -> bool:
        """Whether it differs from running text at all, and is not smaller."""
        element, running, own = self._elements[at], self._running(at), Type.of(self._elements[at])
        if self._stands_smaller(at):
            return False
        if own.size >= LARGER * running.size:
            return True
        # If only its beginning is emphasised, that stands in the line of its text.
        if element.lead and not sure_label(element.text):
            return False
        return own[1:] != running[1:] or is_in_capitals(element.text)

    def _is_plain_title(self, at: int) -> bool:
        """Whether a text like “3.1 Scope”, set as running text, stands above a paragraph."""
        text = self._elements[at].text
        label = sure_label(text)
        return bool(label and label.depth > 1 and text[label.end :][:1].isupper() and self._heads(at))

    def _heads(self, at: int) -> bool:
        """Whether a short line is followed by a paragraph."""
        after = self._after[at]
        if after is None or after.kind is not Kind.PARAGRAPH or len(self._elements[at].text) > TITLE_CHARS:
            return False
        return len(after.text) >= (PARAGRAPH_CHARS / 2 if after.text.endswith(":") else PARAGRAPH_CHARS)

    def _is_running(self, at: int) -> bool:
        """Whether an element is set as running text."""
        return at < len(self._elements) and Type.of(self._elements[at]) == self._running(at)

    def _is_explained(self, at: int, after: Element) -> bool:
        """Whether a text stands indented below, unlike most of the text: headings may hang left of most."""
        begun, own, others = self._typography.begun, round(self._left(at)), round(_left(after))
        is_indented = EXPLAINED < others - own <= 2 * HANGING
        return is_indented and begun.get(others, 0) < begun.get(own, 0)

    def _is_aligned(self, at: int) -> bool:
        """Whether it starts where paragraphs start, left of the next one, or is in the middle; column heads
        do not."""
        left, after = self._left(at), self._after[at]
        if any(abs(left - edge) <= SAME_EDGE for edge in self._typography.edges):
            return True
        if after and after.kind is Kind.PARAGRAPH:
            boxes = line_boxes(after)
            if -SAME_EDGE <= _left(after) - left <= HANGING:
                return True
            # The paragraph's first line is indented, and so is its heading.
            if _left(after) <= left <= boxes[0].x1 + SAME_EDGE:
                return True
        return self._is_in_middle(at)

    def _is_in_middle(self, at: int) -> bool:
        """Whether each line is in the middle of the page, or of the paragraph below."""
        place, after = first_place_on_page(self._elements[at]), self._after[at]
        if place is None:
            return True
        boxes = line_boxes(self._elements[at])
        if all(abs(box.x1 + box.x2 - place.page.width) <= SAME_MIDDLE for box in boxes):
            return True
        if after is None or after.kind is not Kind.PARAGRAPH or len(line_boxes(after)) < HEADING_LINES:
            return False
        ends = _left(after) + max(box.x2 for box in line_boxes(after))
        return all(abs(box.x1 + box.x2 - ends) <= SAME_MIDDLE for box in boxes)

    def _is_cell(self, at: int) -> bool:
        """Whether other short texts stand beside it: a cell of a table that was not taken for one."""
        if sure_label(self._elements[at].text):
            return False
        boxes = line_boxes(self._elements[at])
        around = range(max(at - BESIDE, 0), min(at + 1 + BESIDE, len(self._elements)))
        return any(
            other != at
            and self._pages[other] == self._pages[at]
            and len(self._elements[other].text) <= CELL_CHARS
            and self._elements[other].kind is Kind.PARAGRAPH
            and any(_is_beside(box, boxes[0]) for box in line_boxes(self._elements[other]))
            for other in around
        )


def _left(element: Element) -> float:
    return min((box.x1 for box in line_boxes(element)), default=0.0)


def _top(element: Element) -> float:
    return min(box.y1 for box in line_boxes(element))


def _bottom(element: Element) -> float:
    return max(box.y2 for box in line_boxes(element))


def _is_beside(one: Box, other: Box) -> bool:
    is_apart = one.x1 >= other.x2 or other.x1 >= one.x2
    return is_apart and one.y1 < (other.y1 + other.y2) / 2 < one.y2
