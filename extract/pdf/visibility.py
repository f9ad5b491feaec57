"""Decides which text of a page is invisible, by the page as painted.

Only suspicious text is checked, so that an ordinary page is never painted. In doubt text counts as visible:
losing a visible word is worse than finding a hidden one.
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

# In points. Type below this size looks like a line; wider glyphs only have unusual units.
TINY, TINY_WIDTH = 2.0, 1.5
# Of 255. Smaller differences are invisible.
OPAQUE_ENOUGH, SAME = 13, 16
# Letters cover at most half of their box; if a larger share has their colour, that is the background.
BACKGROUND_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Ink:
    """How a stretch of text is drawn; `opacity` of 255, `size` in points, `width` of one character in points.

    Text that is not `is_painted` has neither fill nor stroke, like the text layer of a scan.
    """

    colour: tuple[int, int, int]
    opacity: int
    is_painted: bool
    size: float
    width: float


class Painting:
    """A page as an image, painted on first use."""

    def __init__(
        self, paint: Callable[[], Pixels], pictures: Callable[[], list[Box]], width: float, height: float
    ) -> None:
        """Take a function that paints the page, one that finds its pictures, and its size in points."""
        self._paint, self._find_pictures = paint, pictures
        self._width, self._height = max(width, 1.0), max(height, 1.0)

    def hides(self, ink: Ink, box: Box) -> bool:
        """Whether text in this ink is invisible at this place on the page."""
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
        """Whether a picture lies here, such as that of the words themselves on a recognised scan."""
        x, y = (box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2
        return any(at.x1 <= x <= at.x2 and at.y1 <= y <= at.y2 for at in self._pictures)

    def _is_bare(self, box: Box) -> bool:
        """Whether the area is empty, without even letters drawn as outlines."""
        part = self._part(box)
        return len(part) > 0 and int((part.max(0) - part.min(0)).max()) <= SAME

    def _is_mostly(self, colour: tuple[int, int, int], box: Box) -> bool:
        part = self._part(box).astype(np.int16)
        same = (np.abs(part - np.array(colour)) <= SAME).all(1)
        return len(part) > 0 and float(same.mean()) >= BACKGROUND_SHARE

    def _part(self, box: Box) -> Pixels:
        """Return the pixels in a box, shape (pixels, 3)."""
        height, width = self._pixels.shape[:2]
        left, right = (round(x * width / self._width) for x in (box.x1, box.x2))
        top, bottom = (round(y * height / self._height) for y in (box.y1, box.y2))
        return self._pixels[top : max(bottom, top + 1), left : max(right, left + 1)].reshape(-1, 3)
