"""Lines of a page: what PDF readers find first, and what paragraphs and tables are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kb.locations import Box


@dataclass(frozen=True, slots=True)
class Line:
    """Words side by side: text and box of each, the box around them all, the size of the type in points."""

    size: float
    bold: bool
    words: list[tuple[str, Box]]
    box: Box

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(word for word, _ in self.words)


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all of them."""
    lefts, tops, rights, bottoms = zip(*((box.x1, box.y1, box.x2, box.y2) for box in boxes), strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def stands_beside(line: Line, previous: Line) -> bool:
    """Whether a line continues, to the right, the row in which the previous one stands."""
    return (
        line.box.x1 >= previous.box.x2 - 1
        and previous.box.y1 < (line.box.y1 + line.box.y2) / 2 < previous.box.y2
    )
