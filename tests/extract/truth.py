"""Location truth, computed from PyMuPDF alone: which characters stand inside a box of the displayed page.

PyMuPDF reports characters in the order in which a file draws them. Some files draw all raised marks of a
page last, so the characters of one box may be read in that order or from left to right. Boxes have one order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import pymupdf

from core.locations import LocatedText, PageBox

FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
HYPHENS = dict.fromkeys(map(ord, "-‐‑\u00ad"))
# Their ink lies at the foot of the line, outside of what is left of a box that is shrunk.
LOW = dict.fromkeys(map(ord, "_"))
SHRUNK = 0.15
"""The share of a box's height that is taken off above and below."""
Character = tuple[float, float, str]


def folded(text: str) -> str:
    """Return text without white space and hyphens: line ends, and how they part words, are not compared."""
    return "".join(text.split()).translate(HYPHENS)


def text_inside(path: Path, boxes: list[PageBox]) -> str:
    """Return the characters whose centre lies in a box, box by box, in the order PyMuPDF reports them."""
    return "".join(
        character
        for box in boxes
        for x, y, character in characters(path, box.page.number)
        if box.box.x1 <= x <= box.box.x2 and box.box.y1 <= y <= box.box.y2
    )


def is_clipped_right(path: Path, located: LocatedText) -> bool:
    """Whether what PyMuPDF itself finds in the boxes, shrunk by `SHRUNK` across the lines, is the text.

    Its clipping takes every character whose ink touches the rectangle: in tightly set text a whole box also
    touches the lines above and below. Underscores are left out, because their ink lies in what is taken off.
    """
    readings = (
        [clippable(_clipped(path, box, sort=sort)) for sort in (False, True)] for box in located.boxes()
    )
    return _is_read_out(clippable(words_of(located)), readings)


def clippable(text: str) -> str:
    """Return text as `is_clipped_right` compares it: folded, and without underscores."""
    return folded(text).replace("_", "")


def _clipped(path: Path, box: PageBox, *, sort: bool) -> str:
    page = opened(path)[box.page.number - 1]
    x1, y1, x2, y2 = box.box
    if _runs_upwards(path, box):
        margin = SHRUNK * (x2 - x1)
        heart = pymupdf.Rect(x1 + margin, y1, x2 - margin, y2)
    else:
        margin = SHRUNK * (y2 - y1)
        heart = pymupdf.Rect(x1, y1 + margin, x2, y2 - margin)
    return str(page.get_text("text", clip=heart * page.derotation_matrix, flags=FLAGS, sort=sort))


def _runs_upwards(path: Path, box: PageBox) -> bool:
    """Whether the characters of a box stand above each other on the displayed page."""
    inside = [
        (x, y)
        for x, y, character in characters(path, box.page.number)
        if character.strip() and box.box.x1 <= x <= box.box.x2 and box.box.y1 <= y <= box.box.y2
    ]
    across, down = (max(values) - min(values) for values in zip(*(inside or [(0.0, 0.0)]), strict=True))
    return bool(down > across)


def is_inside_page(path: Path, box: PageBox) -> bool:
    """Whether a box lies within its page as displayed, and the page's size is told right."""
    shown = opened(path)[box.page.number - 1].rect
    width, height = shown.width, shown.height
    same_size = bool(abs(width - box.page.width) < 0.1 and abs(height - box.page.height) < 0.1)
    across = bool(0 <= box.box.x1 <= box.box.x2 <= width)
    return same_size and across and bool(0 <= box.box.y1 <= box.box.y2 <= height)


def holds(path: Path, located: LocatedText) -> bool:
    """Whether the words in the boxes are the words of the text, and the boxes lie inside their pages."""
    boxes = located.boxes()
    return (
        bool(boxes)
        and all(is_inside_page(path, box) for box in boxes)
        and _is_read_out(folded(words_of(located)), (_readings(path, box) for box in boxes))
    )


def _readings(path: Path, box: PageBox) -> list[str]:
    """Return the characters in a box as they are drawn, and from left to right."""
    inside = [
        (x, character)
        for x, y, character in characters(path, box.page.number)
        if box.box.x1 <= x <= box.box.x2 and box.box.y1 <= y <= box.box.y2
    ]
    in_order = sorted(inside, key=itemgetter(0))
    return [folded("".join(character for _, character in each)) for each in (inside, in_order)]


def _is_read_out(words: str, readings: Iterable[Sequence[str]]) -> bool:
    """Whether boxes, read one after the other and each in one of its orders, are exactly these words."""
    at = 0
    for orders in readings:
        found = next((text for text in orders if words.startswith(text, at)), None)
        if found is None:
            return False
        at += len(found)
    return at == len(words)


def words_of(located: LocatedText) -> str:
    """Return the text without what is between its words: white space, and the marks of Markdown tables."""
    words: list[str] = []
    between = ""
    at = 0
    for span in located.spans:
        between += located.text[at : span.start]
        words.append(located.text[span.start : span.end])
        at = span.end
    between += located.text[at:]
    assert not between.strip("|-: \n"), f"words without a place: {between}"
    return " ".join(words)


@lru_cache(maxsize=1)
def opened(path: Path) -> pymupdf.Document:
    """Return the file, kept open while the same one is asked for."""
    return pymupdf.open(path, filetype="pdf")


@lru_cache(maxsize=64)
def characters(path: Path, page_number: int) -> list[Character]:
    """Return the characters of a page with their centres on the displayed page."""
    page = opened(path)[page_number - 1]
    matrix = page.rotation_matrix
    return [
        _placed(character, matrix)
        for block in page.get_text("rawdict", flags=FLAGS)["blocks"]
        for line in block["lines"]
        for span in line["spans"]
        for character in span["chars"]
    ]


def _placed(character: dict[str, Any], matrix: pymupdf.Matrix) -> Character:
    x1, y1, x2, y2 = character["bbox"]
    centre = pymupdf.Point((x1 + x2) / 2, (y1 + y2) / 2) * matrix
    return centre.x, centre.y, character["c"]
