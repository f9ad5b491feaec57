"""Invisible characters: removed from every text, and reported where they may carry a message.

A language model reads what a reader of the document does not see: letters of the tag block, bytes written as
variation selectors. Single invisible characters are ordinary. Some, such as the joiners of Persian and of
emoji, are part of their word and stay.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from core.locations import LocatedText, WordRun
from extract.base import Element, Kind

# A character class alone is searched much faster than a pattern of what may follow what.
SUSPECT = re.compile(
    "[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\U000e0000-\U000e01ef]"
)
INVISIBLE = re.compile(
    "[\U000e0000-\U000e007f]+"  # tags, which name regions after a flag
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"  # more than one variation selector
    "|[\u200b-\u200f\u2060-\u206f]{2,}"
    "|[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f]+"  # breaks and directions
    "|(?<=[\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\u024f]|$)"  # joiners of unjoined letters
)
# Longer than the region of any flag.
MESSAGE_CHARS = 8
TAGS = 0xE0000
NARROW, NARROW_COUNT, WIDE = 0xFE00, 16, 0xE0100

Stretch = tuple[int, int]


def strip_invisible(element: Element) -> Iterator[Element]:
    """Yield the element as a reader sees it, then the message hidden in it, if there is one."""
    text = element.text
    found = list(INVISIBLE.finditer(text)) if not text.isascii() and SUSPECT.search(text) else []
    if not found:
        yield element
        return
    cuts = [match.span() for match in found]
    positions = _Positions(cuts)
    located = LocatedText(INVISIBLE.sub("", text), tuple(_shift_runs(element.located, positions)))
    rows = tuple((positions.of(start), positions.of(end)) for start, end in element.rows)
    yield replace(element, located=located, rows=rows)
    if message := " ".join(_message(match[0]) for match in found if len(match[0]) >= MESSAGE_CHARS):
        yield Element(Kind.HIDDEN, LocatedText(message))


class _Positions:
    """Maps positions of characters to positions after some stretches are cut out."""

    def __init__(self, cuts: Sequence[Stretch]) -> None:
        self.cuts = cuts
        self.starts = [start for start, _ in cuts]
        self.gone = list(accumulate((end - start for start, end in cuts), initial=0))

    def of(self, position: int) -> int:
        """Return the new position of a character; for a removed one, that of the next character."""
        before = bisect_right(self.starts, position)
        gone = self.gone[before]
        if before and position < self.cuts[before - 1][1]:
            gone -= self.cuts[before - 1][1] - position
        return position - gone


def _shift_runs(located: LocatedText, positions: _Positions) -> Iterator[WordRun]:
    for run in located.runs:
        moved = ((positions.of(start), positions.of(end), *where) for start, end, *where in run.words)
        if words := tuple(word for word in moved if word[0] < word[1]):
            yield WordRun(run.place, words)


def _message(characters: str) -> str:
    """Return the message in invisible characters, or at least their number."""
    if "\U000e0020" <= max(characters) <= "\U000e007f":
        return "".join(chr(ord(one) - TAGS) for one in characters if " " <= chr(ord(one) - TAGS) <= "~")
    if max(characters) >= "\ufe00":
        said = bytes(_byte(one) for one in characters).decode("utf-8", "replace")
        return "".join(one for one in said if one.isprintable())
    return f"({len(characters)} characters without width)"


def _byte(selector: str) -> int:
    """Return the byte that a variation selector stands for, as a character."""
    code = ord(selector)
    return code - NARROW if code < WIDE else code - WIDE + NARROW_COUNT
