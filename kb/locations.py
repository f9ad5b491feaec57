"""Where text stands: a box on a page or a stretch of time, character by character.

Locations are born in an extractor and survive every merge and split: a `LocatedText` is a string that
knows the place of each of its words, and every operation on it keeps them.

Coordinates are points, origin top left of the page as displayed (its crop box after rotation). Times are
seconds from the start.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a displayed page, in points."""

    x1: float
    y1: float
    x2: float
    y2: float

    def union(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(
            min(self.x1, other.x1), min(self.y1, other.y1), max(self.x2, other.x2), max(self.y2, other.y2)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A page as displayed: its 1-based number and its size in points."""

    number: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class OnPage:
    """A place on a page; `line` numbers the line (or table cell) within its page, so that boxes join up."""

    page: Page
    line: int
    box: Box


@dataclass(frozen=True, slots=True)
class InTime:
    """A place in a recording, in seconds from its start."""

    start: float
    end: float


@dataclass(frozen=True, slots=True)
class InFile:
    """A place in a file without coordinates; what does not apply to its kind is None.

    `lines` are first and last line, from 1; `cells` are first row, first column, last row and last column of
    the range, from 1.
    """

    lines: tuple[int, int] | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: tuple[int, int, int, int] | None = None


Place = OnPage | InTime | InFile


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` of the owning `LocatedText` stands at `place`."""

    start: int
    end: int
    place: Place

    def shifted(self, by: int) -> Span:
        """Return the same place for text that moved `by` characters."""
        return Span(self.start + by, self.end + by, self.place)


@dataclass(frozen=True, slots=True)
class PageBox:
    """One entry of the contract's `bbox` list: one line or table cell."""

    box: Box
    page: Page

    def as_json(self) -> dict[str, Any]:
        """Return `{bbox, page_number, layout_width, layout_height}` (contract §3)."""
        box = self.box
        return {
            "bbox": [round(v, 2) for v in (box.x1, box.y1, box.x2, box.y2)],
            "page_number": self.page.number,
            "layout_width": round(self.page.width, 2),
            "layout_height": round(self.page.height, 2),
        }


@dataclass(frozen=True, slots=True)
class LocatedText:
    """A text whose words know their places.

    `spans` are in text order and do not overlap; characters between them (white space, table marks)
    belong to the nearest span before them. Text of kinds without coordinates has no spans.
    """

    text: str
    spans: tuple[Span, ...] = ()

    @classmethod
    def of_words(cls, words: Iterable[tuple[str, Place]]) -> Self:
        """Join words with single spaces."""
        parts: list[str] = []
        spans: list[Span] = []
        at = 0
        for word, place in words:
            spans.append(Span(at, at + len(word), place))
            parts.append(word)
            at += len(word) + 1
        return cls(" ".join(parts), tuple(spans))

    @classmethod
    def join(cls, parts: Iterable[LocatedText], separator: str) -> Self:
        """Concatenate texts; the separator has no place of its own."""
        texts: list[str] = []
        spans: list[Span] = []
        at = 0
        for part in parts:
            texts.append(part.text)
            spans.extend(span.shifted(at) for span in part.spans)
            at += len(part.text) + len(separator)
        return cls(separator.join(texts), tuple(spans))

    def slice(self, start: int, end: int) -> LocatedText:
        """Return `text[start:end]` with the places of the words in it; a cut word keeps its whole box."""
        spans = (
            Span(max(span.start, start) - start, min(span.end, end) - start, span.place)
            for span in self._touching(start, end)
        )
        return LocatedText(self.text[start:end], tuple(spans))

    def boxes(self, start: int = 0, end: int | None = None) -> list[PageBox]:
        """Return one box for each line that `text[start:end]` touches, in reading order."""
        places = [s.place for s in self._touching(start, len(self.text) if end is None else end)]
        on_page = [place for place in places if isinstance(place, OnPage)]
        return [_joined(group) for _, group in groupby(on_page, key=lambda p: (p.page.number, p.line))]

    def times(self, start: int = 0, end: int | None = None) -> tuple[float, float] | None:
        """Return start and end of `text[start:end]` in seconds, or None for text that isn't in time."""
        places = [s.place for s in self._touching(start, len(self.text) if end is None else end)]
        in_time = [place for place in places if isinstance(place, InTime)]
        if not in_time:
            return None
        return min(place.start for place in in_time), max(place.end for place in in_time)

    def files(self) -> list[InFile]:
        """Return the places in a file without coordinates, in text order, without repetitions."""
        return list(dict.fromkeys(s.place for s in self.spans if isinstance(s.place, InFile)))

    def _touching(self, start: int, end: int) -> Iterator[Span]:
        first = bisect_left(self.spans, start + 1, key=lambda span: span.end)
        for span in self.spans[first:]:
            if span.start >= end:
                return
            yield span


def _joined(places: Iterator[OnPage]) -> PageBox:
    first = next(places)
    box = first.box
    for place in places:
        box = box.union(place.box)
    return PageBox(box, first.page)


# --- The stored form -------------------------------------------------------------------------------------


def dump_spans(spans: Iterable[Span]) -> list[dict[str, Any]]:
    """Return spans as compact JSON.

    Words of one line share an entry `{"page": [number, width, height], "line": n, "words": [[start, end,
    x1, y1, x2, y2], …]}`; stretches of time are `{"words": [[start, end, t1, t2], …]}`; places in a file are
    `{"in": {"lines": …, "slide": …, "sheet": …, "cells": …}, "words": [[start, end], …]}` with the keys that
    apply. Values are rounded to 1/100 point and 1/1000 second.
    """
    return [_dump_line(list(group)) for _, group in groupby(spans, key=_line_key)]


def load_spans(stored: Iterable[dict[str, Any]]) -> tuple[Span, ...]:
    """Return the spans that `dump_spans` wrote."""
    return tuple(span for line in stored for span in _load_line(line))


def _line_key(span: Span) -> Hashable:
    match span.place:
        case OnPage(page, line):
            return page.number, line
        case InFile():
            return span.place
        case InTime():
            return None


def _dump_line(spans: list[Span]) -> dict[str, Any]:
    words: list[list[float]] = []
    for span in spans:
        match span.place:
            case OnPage(_, _, box):
                words.append([span.start, span.end, *(round(v, 2) for v in (box.x1, box.y1, box.x2, box.y2))])
            case InTime(start, end):
                words.append([span.start, span.end, round(start, 3), round(end, 3)])
            case InFile():
                words.append([span.start, span.end])
    match spans[0].place:
        case OnPage(page, line):
            return {"page": [page.number, page.width, page.height], "line": line, "words": words}
        case InFile() as place:
            return {
                "in": {key: value for key, value in asdict(place).items() if value is not None},
                "words": words,
            }
        case InTime():
            return {"words": words}


def _load_line(stored: dict[str, Any]) -> Iterator[Span]:
    if "in" in stored:
        place = InFile(**{key: tuple(v) if isinstance(v, list) else v for key, v in stored["in"].items()})
        yield from (Span(start, end, place) for start, end in stored["words"])
        return
    page = Page(*stored["page"]) if "page" in stored else None
    for start, end, *where in stored["words"]:
        yield Span(start, end, OnPage(page, stored["line"], Box(*where)) if page else InTime(*where))
