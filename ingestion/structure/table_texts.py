"""The captions and footnotes of tables: they become part of the table, wherever the file draws them.

A caption names a table (“Table 3: …”) and stands directly above or below it. A footnote stands directly below
and begins with a mark that cells of the table have, or with “Source:”.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.locations import Box, LocatedText
from core.text.tables import without_marks
from extract.base import Element, Kind
from extract.labels import is_caption

# A caption or footnote is no longer than so many characters, and a table has so many footnotes at most.
CAPTION_CHARS, NOTE_CHARS, MOST_NOTES = 600, 3000, 20
# They stand at most so many points away, one below the other. Lines may overlap a little.
GAP, OVERLAP = 30.0, 3.0
# A line between a caption and its table: “(in millions)”, or the title below “TABLE II”.
BETWEEN_CHARS = 160
RUNNING = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER, Kind.HIDDEN})
TEXT = frozenset({Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.CAPTION})

# “Table 3: …”, “TABLE II”, “Tabelle A.1 – …”, “Table 3 Results of …”, but not “Table 3 shows …”.
NUMBER = r"(?:[A-Z]?\d{1,3}(?:[.–-]\d{1,3}){0,2}[a-z]?|[IVX]{1,5}|[A-Z])"
NAMED = re.compile(
    rf"(?:(?i:table|tab\.|tabelle|tableau|tabla|tabella|tabel|exhibit)\s{{1,3}}{NUMBER}|表\s?\d{{1,3}})"
    r"(?:\s?[.:|–—-]|\)|\s{1,3}(?=[(\"“A-ZÀ-Þ])|\s?(?=[\u3040-\u9fff])|$)"
)
SOURCE = re.compile(
    r"(?i:sources?|notes?|quellen?|anmerkung(?:en)?|hinweise?|remarques?|fuentes?|notas?)\s?[.:]\s"
)
# “(1)”, “[a]”, “*”, “†”, “¹”; then a letter or figure. A bare “1” or “a” proves little.
MARK = re.compile(r"(?P<mark>[(\[]\w{1,2}[)\]]|[*†‡§¶#]{1,3}|[¹²³⁰-⁹ᵃ-ᶻ]{1,2})\s{0,3}(?=\S)")
BARE_MARK = re.compile(r"(?P<mark>\d{1,2}|[a-z])(?:\)|\s{1,3})\s{0,3}(?=[A-ZÀ-Þ“\"])")
ENDS_IN_MARK = re.compile(r"[^\W\d](?P<mark>\s?\d{1,2}|\s[a-z])\)?$")
# Footnotes are set so much smaller than running text where only their size tells them.
SMALLER = 0.95


def attach_captions_and_notes(elements: Sequence[Element], running_size: float) -> list[Element]:
    """Return the elements with captions and footnotes moved into their tables.

    `running_size` is the size of running text in points, 0 where it is unknown.
    """
    found = _Neighbours(elements, running_size)
    captions = found.captions()
    taken = {at for places in captions.values() for at in places}
    notes = {table: found.notes(table, taken) for table in found.tables}
    taken |= {at for places in notes.values() for at in places}
    return [
        replace(element, caption=found.joined_text(captions.get(at, [])), notes=found.texts(notes[at]))
        if at in notes
        else element
        for at, element in enumerate(elements)
        if at not in taken
    ]


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """The elements of a document, and what stands beside its tables; `at` is an element's position."""

    elements: Sequence[Element]
    running_size: float

    @property
    def tables(self) -> list[int]:
        """The positions of tables."""
        return [at for at, element in enumerate(self.elements) if element.kind is Kind.TABLE]

    def texts(self, places: Sequence[int]) -> tuple[LocatedText, ...]:
        """Return the texts of elements."""
        return tuple(self.elements[at].located for at in places)

    def joined_text(self, places: Sequence[int]) -> LocatedText | None:
        """Return the texts of elements as one, None of none."""
        return LocatedText.join(self.texts(places), " ") if places else None

    # Captions.

    def captions(self) -> dict[int, list[int]]:
        """Return the positions of each table's caption. One between two tables is where most captions are."""
        above = {table: self._above(table) for table in self.tables}
        below = {table: self._below(table) for table in self.tables}
        only_above = sum(bool(above[table]) and not below[table] for table in self.tables)
        only_below = sum(bool(below[table]) and not above[table] for table in self.tables)
        order = (below, above) if only_below > only_above else (above, below)
        captions: dict[int, list[int]] = {}
        taken: set[int] = set()
        for side in order:
            for table, places in side.items():
                if places and table not in captions and taken.isdisjoint(places):
                    captions[table] = places
                    taken.update(places)
        return captions

    def _above(self, table: int) -> list[int]:
        """Return the positions of a caption above a table, its lines in order; perhaps with one between."""
        nearest = self._next(table, -1)
        if nearest is None or not self._is_near(nearest, table):
            return []
        if self._names(nearest):
            return [nearest]
        first = self._next(nearest, -1)
        if first is None or len(self.elements[nearest].text) > BETWEEN_CHARS or not self._names(first):
            return []
        is_near = self._is_text(nearest) and self._is_near(first, nearest)
        return [first, nearest] if is_near else []

    def _below(self, table: int) -> list[int]:
        nearest = self._next(table, 1)
        is_named = nearest is not None and self._names(nearest) and self._is_near(table, nearest)
        return [nearest] if nearest is not None and is_named else []

    def _names(self, at: int) -> bool:
        """Whether an element is the caption of a table."""
        element = self.elements[at]
        if not self._is_text(at) or element.picture or len(element.text) > CAPTION_CHARS:
            return False
        if NAMED.match(element.text):
            return True
        return element.kind is Kind.CAPTION and not is_caption(element.text)

    # Footnotes.

    def notes(self, table: int, taken: set[int]) -> list[int]:
        """Return the positions of a table's footnotes."""
        found: list[int] = []
        above = table
        while len(found) < MOST_NOTES and (at := self._next(above, 1)) is not None:
            if at not in taken:
                if not self._is_note(at, table) or not (self._is_near(above, at) or self._goes_on(above, at)):
                    break
                found.append(at)
            above = at
        return found

    def _is_note(self, at: int, table: int) -> bool:
        """Whether an element is a footnote of a table; a bare “1” or “a” is one in small type only."""
        element = self.elements[at]
        if not self._is_text(at) or len(element.text) > NOTE_CHARS:
            return False
        if SOURCE.match(element.text):
            return True
        if mark := MARK.match(element.text):
            return _is_marked(self.elements[table], mark["mark"])
        if not (bare := BARE_MARK.match(element.text)):
            return False
        return self._is_small(element) and _ends_cell(self.elements[table], bare["mark"])

    def _goes_on(self, above: int, at: int) -> bool:
        """Whether a text with a mark begins the page that follows a table, or one of its footnotes."""
        page = self.elements[at].located.page_number()
        last = max((box.page.number for box in self.elements[above].located.boxes()), default=None)
        has_mark = MARK.match(self.elements[at].text) is not None
        return has_mark and last is not None and page == last + 1

    def _is_small(self, element: Element) -> bool:
        return 0 < (element.font_size or 0) < SMALLER * self.running_size

    # Places.

    def _next(self, at: int, step: int) -> int | None:
        """Return the position of the next element before or after, running heads and feet left out."""
        at += step
        while 0 <= at < len(self.elements) and self.elements[at].kind in RUNNING:
            at += step
        return at if 0 <= at < len(self.elements) else None

    def _is_text(self, at: int) -> bool:
        return self.elements[at].kind in TEXT

    def _is_near(self, upper: int, lower: int) -> bool:
        """Whether one element stands closely below another one; beside each other in files without pages."""
        above, below = self.elements[upper].located, self.elements[lower].located
        if (page := below.page_number()) is None or above.page_number() is None:
            return above.page_number() is page
        top, bottom = _box_on(page, below), _box_on(page, above)
        if top is None or bottom is None:
            return False
        shares = min(top.x2, bottom.x2) > max(top.x1, bottom.x1)
        return shares and -OVERLAP <= top.y1 - bottom.y2 <= GAP


def _box_on(page: int, located: LocatedText) -> Box | None:
    """Return the box of a text on one page."""
    boxes = [each.box for each in located.boxes() if each.page.number == page]
    if not boxes:
        return None
    box = boxes[0]
    for other in boxes[1:]:
        box = box.union(other)
    return box


def _cells(table: Element) -> Iterator[str]:
    for row in without_marks(table.text).split("\n"):
        yield from row.split("  ")


def _is_marked(table: Element, mark: str) -> bool:
    """Whether a cell has a mark beside other words; “(1)” alone is a figure in brackets."""
    return any(mark in cell and re.search(r"\w", cell.replace(mark, "")) for cell in _cells(table))


def _ends_cell(table: Element, mark: str) -> bool:
    """Whether the words of a cell end in a raised figure, or in a letter that stands apart."""
    ends = (ENDS_IN_MARK.search(cell) for cell in _cells(table))
    return any(end["mark"].strip() == mark for end in ends if end)
