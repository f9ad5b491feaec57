"""Where words stand on a page, found without Locus: by PyMuPDF in the file, by geometry on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pymupdf
from playwright.sync_api import Page

RIM = 2
"""A mark is drawn with a rim of so many pixels around its box."""


@dataclass(frozen=True)
class Rect:
    """A rectangle in CSS pixels of the window."""

    x1: float
    y1: float
    x2: float
    y2: float

    @property
    def area(self) -> float:
        """Its size."""
        return max(0.0, self.x2 - self.x1) * max(0.0, self.y2 - self.y1)

    def overlap(self, other: Rect) -> float:
        """The size of what both cover."""
        return Rect(
            max(self.x1, other.x1), max(self.y1, other.y1), min(self.x2, other.x2), min(self.y2, other.y2)
        ).area


def drawn(page: Page, selector: str) -> list[Rect]:
    """Return where elements are on the screen, all at the same moment."""
    boxes = page.locator(selector).evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
    return list(map(_rect, boxes))


def _drawn_whole(page: Page, selector: str) -> list[Rect]:
    """Wait until all elements have a size, and return where they are at that moment."""
    found = page.wait_for_function(
        """selector => {
            const all = [...document.querySelectorAll(selector)];
            const boxes = all.map(one => one.getBoundingClientRect().toJSON());
            return boxes.length > 1 && boxes.every(box => box.width) && boxes;
        }""",
        arg=selector,
    )
    return list(map(_rect, found.json_value()))


def _rect(box: dict[str, float]) -> Rect:
    return Rect(box["left"], box["top"], box["right"], box["bottom"])


def words_on_screen(image: Rect, pdf: Path, number: int, words: str) -> list[Rect]:
    """Return where `words` of a PDF page must be seen, given where the page's image is."""
    with pymupdf.open(pdf) as document:
        paper = document[number - 1]
        # PyMuPDF finds text in unrotated coordinates; people look at the rotated page.
        found = [rect * paper.rotation_matrix for rect in paper.search_for(words)]
        scale = (image.x2 - image.x1) / paper.rect.width
        height = scale * paper.rect.height
    assert abs(height - (image.y2 - image.y1)) < 2, "the image is not the page's shape"
    return [
        Rect(
            image.x1 + r.x0 * scale, image.y1 + r.y0 * scale, image.x1 + r.x1 * scale, image.y1 + r.y1 * scale
        )
        for r in found
    ]


def assert_marked(page: Page, pdf: Path, number: int, words: str) -> None:
    """Assert that the strong marks lie on `words`, and on little else.

    A page that is being drawn anew, whose marks have no size yet, is waited for: they are measured at the
    moment that all have one.
    """
    image, *boxes = _drawn_whole(page, f"[data-drawn='{number}'], [data-place=quote]")
    marks = [Rect(box.x1 - RIM, box.y1 - RIM, box.x2 + RIM, box.y2 + RIM) for box in boxes]
    expected = words_on_screen(image, pdf, number, words)
    assert expected, f"PyMuPDF does not find “{words}” on page {number}"
    for place in expected:
        assert sum(place.overlap(mark) for mark in marks) >= 0.7 * place.area, (place, marks)
    assert sum(mark.area for mark in marks) < 0.2 * image.area, "the mark covers too much of the page"
