"""Lines that a writer has begun, and not the layout: “Date: 14 March”, “2015 – 2019 Data analyst”.

They are paragraphs of their own, though no empty line stands between them: else a form, a letter's head or a
curriculum vitae becomes one long sentence.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from core.text.entries import begins_entry

NARROWEST = 60
"""Characters: what is wrapped at fewer is no prose."""
_GOES_ON = re.compile(r"[,;/&(–—-]\s*\Z")


def is_begun(line: str, previous: str, *, has_room: bool) -> bool:
    """Tell whether a writer has begun a line: an entry, or what follows one, where the line before it
    `has_room` for its first word. Two entries below each other were begun, however long the first one is."""
    if _GOES_ON.search(previous):
        return False
    if begins_entry(line):
        return has_room or begins_entry(previous)
    return has_room and begins_entry(previous) and not line[:1].islower()


def paragraphs(lines: Sequence[str], *, is_wrapped: bool = True) -> Iterator[range]:
    """Yield which of the lines of a block, not empty and without blanks around them, are one paragraph.

    Where nothing was wrapped, as in HTML, the writer has ended each line.
    """
    width = max(NARROWEST, max(map(len, lines))) if is_wrapped else sys.maxsize
    start = 0
    for at in range(1, len(lines)):
        line, previous = lines[at], lines[at - 1]
        has_room = len(previous) + 1 + len(line.split(maxsplit=1)[0]) <= width
        if is_begun(line, previous, has_room=has_room):
            yield range(start, at)
            start = at
    yield range(start, len(lines))
