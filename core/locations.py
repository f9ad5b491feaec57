"""Locations of text: a box on a page, a stretch of time or a place in a file, for each word.

Locations are created by an extractor and survive every merge and split. A `LocatedText` is a string that
knows the place of each of its words, and every operation on it keeps them.

Coordinates are points, origin top left of the page as displayed (its crop box after rotation). Times are
seconds from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, Self


class Box(NamedTuple):
    """A rectangle on a displayed page, in points; every word has one, so creating it must be fast."""

    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        return self.x1, self.y1, self.x2, self.y2

    def union(self, other: Box) -> Box:
        """Return the smallest box around both."""
        return Box(
            min(self.x1, other.x1), min(self.y1, other.y1), max(self.x2, other.x2), max(self.y2, other.y2)
        )

    def holds(self, other: Box) -> bool:
        """Return whether the middle of another box is in this one."""
        across, down = (other.x1 + other.x2) / 2, (other.y1 + other.y2) / 2
        return self.x1 <= across <= self.x2 and self.y1 <= down <= self.y2


@dataclass(frozen=True, slots=True)
class Page:
    """A page as displayed: its 1-based number and its size in points."""

    number: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class OnPage:
    """A place on a page; `line` numbers the line (or table cell) within its page, so that boxes of a line can
    be merged."""

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
    """A place in a file without coordinates; fields that do not apply to its kind are None.

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
    """A stretch of the owning `LocatedText`, `text[start:end]`, and its place."""

    start: int
    end: int
    place: Place


@dataclass(frozen=True, slots=True)
class PageBox:
    """One entry of the contract's `bbox` list: one line or table cell."""

    box: Box
    page: Page

    def holds(self, other: PageBox) -> bool:
        """Return whether the middle of another box is in this one."""
        return self.page.number == other.page.number and self.box.holds(other.box)

    def as_json(self) -> dict[str, Any]:
        """Return `{bbox, page_number, layout_width, layout_height}` (contract §3)."""
        return {
            "bbox": [round(v, 2) for v in self.box.corners],
            "page_number": self.page.number,
            "layout_width": round(self.page.width, 2),
            "layout_height": round(self.page.height, 2),
        }


Word = tuple[Any, ...]
"""`(start, end, *where)`: `text[start:end]` and its place; the meaning of `where` depends on the run."""


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line (or table cell) of a page, by its number within the page."""

    page: Page
    number: int


@dataclass(frozen=True, slots=True)
class WordRun:
    """Consecutive words that share a line, or a place in the file, or that have times (`place` None).

    `where` of its words is x1, y1, x2, y2 on a page, nothing in a file, start and end in time. They are plain
    tuples, because a document has hundreds of thousands of words.
    """

    place: PageLine | InFile | None
    words: tuple[Word, ...]

    def spans(self) -> Iterator[Span]:
        """Yield its words one by one."""
        for start, end, *where in self.words:
            match self.place:
                case PageLine(page, number):
                    yield Span(start, end, OnPage(page, number, Box(*where)))
                case InFile():
                    yield Span(start, end, self.place)
                case None:
                    yield Span(start, end, InTime(*where))


@dataclass(frozen=True, slots=True)
class LocatedText:
    """A text that knows the place of each of its words.

    `runs` are in text order and do not overlap. Characters between them (white space, table marks) belong to
    the nearest word before them. Text of kinds without places has no runs.
    """

    text: str
    runs: tuple[WordRun, ...] = ()

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
        return cls.of_spans(" ".join(parts), spans)

    @classmethod
    def of_spans(cls, text: str, spans: Iterable[Span]) -> Self:
        """Return a text with its places, rounded to 1/100 point and 1/1000 second."""
        runs = (
            WordRun(key, tuple(map(_word, group)))
            for key, group in groupby(spans, key=lambda span: _key(span.place))
        )
        return cls(text, tuple(runs))

    @classmethod
    def join(cls, parts: Iterable[LocatedText], separator: str) -> Self:
        """Concatenate texts; the separator has no place of its own."""
        texts: list[str] = []
        runs: list[WordRun] = []
        at = 0
        for part in parts:
            texts.append(part.text)
            runs += part.runs if at == 0 else (_shift_words(run, at) for run in part.runs)
            at += len(part.text) + len(separator)
        return cls(separator.join(texts), tuple(runs))

    @property
    def spans(self) -> tuple[Span, ...]:
        """The words one by one, in text order."""
        return tuple(span for run in self.runs for span in run.spans())

    def slice(self, start: int, end: int) -> LocatedText:
        """Return `text[start:end]` with the places of the words in it; a cut word keeps its whole box."""
        length = end - start
        if start <= 0 and length >= len(self.text):
            return self
        runs = (
            WordRun(
                run.place,
                tuple((max(w[0] - start, 0), min(w[1] - start, length), *w[2:]) for w in run.words),
            )
            for run in self._touching(start, end)
        )
        return LocatedText(self.text[start:end], tuple(runs))

    def boxes(self, start: int = 0, end: int | None = None) -> list[PageBox]:
        """Return one box for each line that `text[start:end]` touches, in reading order."""
        touching = self._touching(start, len(self.text) if end is None else end)
        on_page = ((run.place, run.words) for run in touching if isinstance(run.place, PageLine))
        return [
            _box_around(line, [word for _, words in group for word in words])
            for line, group in groupby(on_page, key=itemgetter(0))
        ]

    def times(self, start: int = 0, end: int | None = None) -> tuple[float, float] | None:
        """Return start and end of `text[start:end]` in seconds, or None for text without times."""
        touching = self._touching(start, len(self.text) if end is None else end)
        words = [word for run in touching if run.place is None for word in run.words]
        return (min(word[2] for word in words), max(word[3] for word in words)) if words else None

    def files(self, start: int = 0, end: int | None = None) -> list[InFile]:
        """Return the places of `text[start:end]` in a file without coordinates, in order, each once."""
        touching = self._touching(start, len(self.text) if end is None else end)
        return list(dict.fromkeys(run.place for run in touching if isinstance(run.place, InFile)))

    def first_place(self) -> Place | None:
        """Return the place of the first word that has one."""
        return next((span.place for run in self.runs for span in run.spans()), None)

    def page_number(self) -> int | None:
        """Return the number of the page on which the text begins, None for text without pages."""
        first = self.runs[0].place if self.runs else None
        return first.page.number if isinstance(first, PageLine) else None

    def _touching(self, start: int, end: int) -> Iterator[WordRun]:
        for run in self.runs:
            words = run.words
            if words[0][0] >= end:
                return
            if words[-1][1] <= start:
                continue
            if words[0][0] < start or words[-1][1] > end:
                words = tuple(word for word in words if word[1] > start and word[0] < end)
                if not words:
                    continue
                run = WordRun(run.place, words)
            yield run

    # --- The stored form -----------------------------------------------------------------------------------

    def dump(self) -> list[dict[str, Any]]:
        """Return the places as compact JSON, without the text.

        Words of one line share an entry `{"page": [number, width, height], "line": n, "words": [[start, end,
        x1, y1, x2, y2], …]}`; stretches of time are `{"words": [[start, end, t1, t2], …]}`; places in a file
        are `{"in": {"lines": …, "slide": …, "sheet": …, "cells": …}, "words": [[start, end], …]}` with the
        keys that apply.
        """
        return [
            _dump_place(place) | {"words": [word for run in group for word in run.words]}
            for place, group in groupby(self.runs, key=attrgetter("place"))
        ]

    @classmethod
    def load(cls, text: str, stored: Iterable[Mapping[str, Any]]) -> Self:
        """Return the located text of which `dump` wrote the places."""
        runs = (WordRun(_load_place(entry), tuple(map(tuple, entry["words"]))) for entry in stored)
        return cls(text, tuple(runs))


def _key(place: Place) -> PageLine | InFile | None:
    match place:
        case OnPage(page, line):
            return PageLine(page, line)
        case InFile():
            return place
        case InTime():
            return None


def _word(span: Span) -> Word:
    match span.place:
        case OnPage(_, _, box):
            where = (round(box.x1, 2), round(box.y1, 2), round(box.x2, 2), round(box.y2, 2))
            return (span.start, span.end, *where)
        case InTime(start, end):
            return span.start, span.end, round(start, 3), round(end, 3)
        case InFile():
            return span.start, span.end


def _shift_words(run: WordRun, by: int) -> WordRun:
    return WordRun(run.place, tuple((word[0] + by, word[1] + by, *word[2:]) for word in run.words))


def _box_around(line: PageLine, words: Sequence[Word]) -> PageBox:
    _, _, lefts, tops, rights, bottoms = zip(*words, strict=True)
    return PageBox(Box(min(lefts), min(tops), max(rights), max(bottoms)), line.page)


def _dump_place(place: PageLine | InFile | None) -> dict[str, Any]:
    match place:
        case PageLine(page, number):
            return {"page": [page.number, page.width, page.height], "line": number}
        case InFile():
            return {"in": {key: value for key, value in asdict(place).items() if value is not None}}
        case None:
            return {}


def _load_place(entry: Mapping[str, Any]) -> PageLine | InFile | None:
    if "page" in entry:
        return PageLine(Page(*entry["page"]), entry["line"])
    if "in" in entry:
        found: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in entry["in"].items()}
        return InFile(**found)
    return None
