"""Characters that take no room: out of every text, and told of where they may carry a message.

A language model reads what a reader of the document does not see: letters of the tag block, bytes written as
variation selectors. Single invisible characters are ordinary; some, such as the joiners of Persian and of
emoji, belong to the word they stand in and stay.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from core.locations import LocatedText, WordRun
from extract.base import Element, Kind

# One class of characters is looked for much faster than what may follow what.
SUSPECT = re.compile(
    "[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\U000e0000-\U000e01ef]"
)
INVISIBLE = re.compile(
    "[\U000e0000-\U000e007f]+"  # tags, which name regions behind a flag
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"  # more than one choice between variants of a character
    "|[\u200b-\u200f\u2060-\u206f]{2,}"
    "|[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f]+"  # breaks and directions
    "|(?<=[\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\u024f]|$)"  # joiners that join no such letters
)
# Longer than the region of any flag.
MESSAGE_CHARS = 8
TAGS = 0xE0000
NARROW, NARROW_COUNT, WIDE = 0xFE00, 16, 0xE0100

Stretch = tuple[int, int]


def without_invisible(element: Element) -> Iterator[Element]:
    """Yield an element as its reader sees it, and the message hidden in it, if there is one."""
    text = element.text
    found = list(INVISIBLE.finditer(text)) if not text.isascii() and SUSPECT.search(text) else []
    if not found:
        yield element
        return
    cuts = [match.span() for match in found]
    positions = _Positions(cuts)
    located = LocatedText(INVISIBLE.sub("", text), tuple(_moved(element.located, positions)))
    rows = tuple((positions.of(start), positions.of(end)) for start, end in element.rows)
    yield replace(element, located=located, rows=rows)
    if message := " ".join(_message(match[0]) for match in found if len(match[0]) >= MESSAGE_CHARS):
        yield Element(Kind.HIDDEN, LocatedText(message))


class _Positions:
    """Where characters are once some stretches are cut out."""

    def __init__(self, cuts: Sequence[Stretch]) -> None:
        self.cuts = cuts
        self.starts = [start for start, _ in cuts]
        self.gone = list(accumulate((end - start for start, end in cuts), initial=0))

    def of(self, position: int) -> int:
        """Return the new position of a character, or of what follows if it is cut out."""
        before = bisect_right(self.starts, position)
        gone = self.gone[before]
        if before and position < self.cuts[before - 1][1]:
            gone -= self.cuts[before - 1][1] - position
        return position - gone


def _moved(located: LocatedText, positions: _Positions) -> Iterator[WordRun]:
    for run in located.runs:
        moved = ((positions.of(start), positions.of(end), *where) for start, end, *where in run.words)
        if words := tuple(word for word in moved if word[0] < word[1]):
            yield WordRun(run.place, words)


def _message(characters: str) -> str:
    """Return what invisible characters say, or at least how many they are."""
    if "\U000e0020" <= max(characters) <= "\U000e007f":
        return "".join(chr(ord(one) - TAGS) for one in characters if " " <= chr(ord(one) - TAGS) <= "~")
    if max(characters) >= "\ufe00":
        said = bytes(_byte(one) for one in characters).decode("utf-8", "replace")
        return "".join(one for one in said if one.isprintable())
    return f"({len(characters)} characters without width)"


def _byte(selector: str) -> int:
    """Return which of the 256 variation selectors it is."""
    code = ord(selector)
    return code - NARROW if code < WIDE else code - WIDE + NARROW_COUNT
