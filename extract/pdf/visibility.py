"""What of a page a reader can't see, judged by the page as it is painted.

Only text that looks suspicious is looked at, so that an ordinary page is never painted. In doubt text is
visible: words that nobody finds are worse than hidden ones that somebody does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.locations import Box

Pixels = NDArray[np.uint8]
"""Height × width × red, green and blue."""

# Points. Below this type is a line to the eye; glyphs that are drawn wider have only odd units.
TINY, TINY_WIDTH = 2.0, 1.5
# Of 255. What differs by less is not told apart.
OPAQUE_ENOUGH, SAME = 13, 16
# Letters cover at most half of their box; where more has their colour, that is what lies behind them.
BEHIND = 0.75


@dataclass(frozen=True, slots=True)
class Ink:
    """How a stretch of text is drawn; `opacity` of 255, `size` in points, `width` of one character in points.

    What is not `is_painted` has neither fill nor stroke, as the text layer of a scan.
    """

    colour: tuple[int, int, int]
    opacity: int
    is_painted: bool
    size: float
    width: float


class Painting:
    """A page as it looks, painted when it is first asked about."""

    def __init__(
        self, paint: Callable[[], Pixels], pictures: Callable[[], list[Box]], width: float, height: float
    ) -> None:
        """Take what paints the page, what finds the pictures on it, and its size in points."""
        self._paint, self._find_pictures = paint, pictures
        self._width, self._height = max(width, 1.0), max(height, 1.0)

    def hides(self, ink: Ink, box: Box) -> bool:
        """Whether text in this ink can't be seen in this place, which is on the page."""
        if ink.size < TINY and ink.width < TINY_WIDTH:
            return True
        if not ink.is_painted:
            return not self._is_pictured(box) and self._is_bare(box)
        return ink.opacity < OPAQUE_ENOUGH or self._is_mostly(ink.colour, box)

    @cached_property
    def _pixels(self) -> Pixels:
        return self._paint()

    @cached_property
    def _pictures(self) -> list[Box]:
        return self._find_pictures()

    def _is_pictured(self, box: Box) -> bool:
        """Whether there is a picture, such as that of the words themselves on a recognised scan."""
        x, y = (box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2
        return any(at.x1 <= x <= at.x2 and at.y1 <= y <= at.y2 for at in self._pictures)

    def _is_bare(self, box: Box) -> bool:
        """Whether there is nothing to see, not even letters drawn as outlines."""
        part = self._part(box)
        return len(part) > 0 and int((part.max(0) - part.min(0)).max()) <= SAME

    def _is_mostly(self, colour: tuple[int, int, int], box: Box) -> bool:
        part = self._part(box).astype(np.int16)
        same = (np.abs(part - np.array(colour)) <= SAME).all(1)
        return len(part) > 0 and float(same.mean()) >= BEHIND

    def _part(self, box: Box) -> Pixels:
        """Return the pixels in a box, shape (pixels, 3)."""
        height, width = self._pixels.shape[:2]
        left, right = (round(x * width / self._width) for x in (box.x1, box.x2))
        top, bottom = (round(y * height / self._height) for y in (box.y1, box.y2))
        return self._pixels[top : max(bottom, top + 1), left : max(right, left + 1)].reshape(-1, 3)
