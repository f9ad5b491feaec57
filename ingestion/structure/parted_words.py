"""Words that are parted at the end of a line become one word again, which has a place on both lines.

The document itself says how a word is written: "repre-" and "sentations" are one if "representations" stands
elsewhere, and "self-" and "contained" keep their hyphen if "self-contained" does. Where neither does, the
hyphen stays between two words that both stand by themselves, and after a word that has one already, as in
"proof-of-concept".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from core.locations import LocatedText, WordRun
from extract.base import Element, Kind

JOINED_KINDS = (Kind.PARAGRAPH, Kind.HEADING, Kind.LIST_ITEM, Kind.CAPTION)
WORD = re.compile(r"[^\W\d_]+(?:[-‐‑][^\W\d_]+)*")
# Hyphen, and the two that only hyphens are; a soft hyphen shows only where a word is parted.
SOFT = "\u00ad"
PARTED = re.compile(rf"\A[^\W\d_]{{2,}}+[-‐‑{SOFT}]\Z")
CONTINUED = re.compile(r"[^\W\d_]+")
SHORTEST_END = 2
# “no” and “table” are words, but “notable” is meant.
SHORTEST_WORD = 3
# “short- and long-term”, “Haus- und Hofarbeit”: the hyphen stands for what follows later.
SUSPENDED = frozenset(
    {"and", "or", "to", "und", "oder", "bis", "sowie", "et", "ou", "y", "e", "o", "en", "of", "i"}
)


def join_parted_words(elements: Sequence[Element]) -> list[Element]:
    """Return the elements with the words that line ends have parted joined."""
    if not any(_parts(element) for element in elements):
        return list(elements)
    vocabulary = frozenset(_vocabulary(elements))
    return [_joined(element, vocabulary) for element in elements]


class Part(NamedTuple):
    """Positions in an element's text: of the first half, of its hyphen, and of the second half."""

    start: int
    hyphen: int
    after: int
    end: int

    def words(self, text: str) -> tuple[str, str, str]:
        """Return both halves in small letters, and the hyphen between them."""
        return (
            text[self.start : self.hyphen].casefold(),
            text[self.hyphen],
            text[self.after : self.end].casefold(),
        )


def _parts(element: Element) -> list[Part]:
    """Return where lines end within a word."""
    if element.kind not in JOINED_KINDS:
        return []
    text = element.text
    found = []
    for line, after in pairwise(element.located.runs):
        if line.place is None or line.place == after.place:
            continue
        (start, end, *_), (next_start, next_end, *_) = line.words[-1], after.words[0]
        first = PARTED.match(_last_letters(text[start:end]))
        second = CONTINUED.match(text, next_start, next_end)
        if first and second and second[0][0].islower() and len(second[0]) >= SHORTEST_END:
            found.append(Part(end - len(first[0]), end - 1, next_start, second.end()))
    return found


def _last_letters(word: str) -> str:
    """Return what follows the last bracket, dash or apostrophe of a word: “(repre-” is “repre-”."""
    at = max((match.end() for match in re.finditer(r"[\W\d_](?=[^\W\d_])", word)), default=0)
    return word[at:]


def _vocabulary(elements: Iterable[Element]) -> Iterator[str]:
    """Yield the words that are not parted, with their hyphens, in small letters."""
    for element in elements:
        halves = {at for part in _parts(element) for at in (part.start, part.after)}
        for word in WORD.finditer(element.text):
            if word.start() not in halves:
                yield word[0].casefold().replace("‐", "-").replace("‑", "-")


def _joined(element: Element, vocabulary: frozenset[str]) -> Element:
    located = element.located
    # From the end, so that the positions before stay.
    for part in reversed(_parts(element)):
        first, hyphen, second = part.words(located.text)
        if hyphen == SOFT:
            keeps = False
        elif second in SUSPENDED:
            continue
        else:
            keeps = located.text[: part.start].endswith("-") or _keeps_hyphen(first, second, vocabulary)
        located = _without(located, part.hyphen + keeps, part.after)
    return replace(element, located=located)


def _keeps_hyphen(first: str, second: str, vocabulary: frozenset[str]) -> bool:
    if f"{first}{second}" in vocabulary:
        return False
    if f"{first}-{second}" in vocabulary:
        return True
    return len(first) >= SHORTEST_WORD and first in vocabulary and second in vocabulary


def _without(located: LocatedText, start: int, end: int) -> LocatedText:
    """Return the text without `text[start:end]`; words before end where it starts, and others move."""
    by = end - start

    def moved(at: int) -> int:
        return at - by if at >= end else min(at, start)

    runs = tuple(
        WordRun(run.place, tuple((moved(word[0]), moved(word[1]), *word[2:]) for word in run.words))
        for run in located.runs
    )
    return LocatedText(located.text[:start] + located.text[end:], runs)
