"""Facts (a name and a value each), grouped into one element for each record."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from core.locations import InFile, LocatedText
from extract.base import Element, Kind
from extract.places import locate_text

# A record longer than this is cut between its lines.
MAX_RECORD_CHARS = 1_500


@dataclass(frozen=True, slots=True)
class Fact:
    """A value, the words that name it, the record it belongs to, and its line (from 1)."""

    record: Hashable
    name: str
    value: str
    line: int


def record_elements(facts: Iterable[Fact], kind: Kind) -> Iterator[Element]:
    """Yield an element per record: `name: value` line by line, each with its place."""
    for _, in_record in groupby(facts, key=lambda fact: fact.record):
        lines: list[LocatedText] = []
        size = 0
        for fact in in_record:
            line = locate_text(f"{fact.name}: {fact.value}" if fact.name else fact.value, _at(fact))
            if lines and size + len(line.text) > MAX_RECORD_CHARS:
                yield Element(kind, LocatedText.join(lines, "\n"))
                lines, size = [], 0
            lines.append(line)
            size += len(line.text)
        yield Element(kind, LocatedText.join(lines, "\n"))


def _at(fact: Fact) -> InFile:
    return InFile(lines=(fact.line, fact.line))
