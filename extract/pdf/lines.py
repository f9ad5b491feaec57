"""Lines of a page: what PDF readers find first, and what paragraphs and tables are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.locations import Box


@dataclass(frozen=True, slots=True)
class PdfLine:
    """Words side by side: text and box of each, the box around them all, the size of the type in points."""

    size: float
    bold: bool
    words: list[tuple[str, Box]]
    box: Box

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(word for word, _ in self.words)


def around(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around all of them."""
    if len(boxes) == 1:
        return boxes[0]
    return Box(
        min([box.x1 for box in boxes]),
        min([box.y1 for box in boxes]),
        max([box.x2 for box in boxes]),
        max([box.y2 for box in boxes]),
    )


def stands_beside(line: PdfLine, previous: PdfLine) -> bool:
    """Whether a line continues, to the right, the row in which the previous one stands."""
    return (
        line.box.x1 >= previous.box.x2 - 1
        and previous.box.y1 < (line.box.y1 + line.box.y2) / 2 < previous.box.y2
    )
