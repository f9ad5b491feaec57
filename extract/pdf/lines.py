"""Lines of a page: the output of PDF readers, from which paragraphs and tables are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.locations import Box


@dataclass(frozen=True, slots=True)
class PdfLine:
    """Words side by side: text and box of each, the box around all of them, the type (size in points).

    `lead` counts the words at the beginning that are bold or italic, unlike those after them.
    """

    size: float
    bold: bool
    italic: bool
    words: list[tuple[str, Box]]
    box: Box
    lead: int = 0

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(word for word, _ in self.words)


def enclosing_box(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around all of them."""
    if len(boxes) == 1:
        return boxes[0]
    return Box(
        min([box.x1 for box in boxes]),
        min([box.y1 for box in boxes]),
        max([box.x2 for box in boxes]),
        max([box.y2 for box in boxes]),
    )


def continues_row(line: PdfLine, previous: PdfLine) -> bool:
    """Whether a line continues the row of the previous line to the right."""
    return (
        line.box.x1 >= previous.box.x2 - 1
        and previous.box.y1 < (line.box.y1 + line.box.y2) / 2 < previous.box.y2
    )
