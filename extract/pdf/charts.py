"""Finds charts among the drawings on a PDF page, which are also rules, frames and shading of tables.

A chart has what tables lack: curves, slanted lines, or bars that stand on one line and end at several
heights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from core.locations import Box, Page
from extract.pdf.lines import enclosing_box
from extract.pdf.mupdf import pymupdf

# A drawing that covers this share of the page is its background.
LARGEST = 0.7
# Drawings this close together, in points, are one picture; the grid has at most so many cells a side.
CELL, MOST_CELLS = 5.0, 2000
FEWEST_STROKES, FEWEST_BARS, SLANT = 6, 4, 2.0


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A path on the displayed page: its number of curves and slanted lines, and the areas that it fills."""

    box: Box
    strokes: int
    filled: tuple[Box, ...]


def charts(page: pymupdf.Page, shown: Page) -> list[Box]:
    """Return the boxes of groups of drawings that are no table, frame or rule."""
    paths = list(_drawn_paths(page, shown))
    if not paths:
        return []
    return [
        enclosing_box([path.box for path in cluster])
        for cluster in _clusters(paths, shown)
        if sum(path.strokes for path in cluster) >= FEWEST_STROKES or _bars(cluster) >= FEWEST_BARS
    ]


def _drawn_paths(page: pymupdf.Page, shown: Page) -> Iterator[_Drawn]:
    for path in page.get_cdrawings():
        box = displayed_box(_with_extent(path["rect"]), page, shown)
        if box is None or _is_paper(box, shown):
            continue
        filled = _filled_rectangles(path) if _is_seen(path.get("fill")) else []
        boxes = (displayed_box(rect, page, shown) for rect in filled)
        yield _Drawn(box, sum(map(_strokes, path["items"])), tuple(each for each in boxes if each))


def _with_extent(rect: Any) -> Any:
    """Return the rectangle enlarged to at least one point each way: a rule would be empty."""
    x1, y1, x2, y2 = rect
    return x1, y1, max(x2, x1 + 1), max(y2, y1 + 1)


def _is_paper(box: Box, shown: Page) -> bool:
    """Whether a drawing spans the whole page: its background, or a rule across it."""
    across, down = box.x2 - box.x1, box.y2 - box.y1
    is_rule = across > 0.9 * shown.width and down < 20
    return is_rule or across * down > LARGEST * shown.width * shown.height


def _is_seen(fill: Sequence[float] | None) -> bool:
    return fill is not None and min(fill, default=1.0) < 1


def _filled_rectangles(path: dict[str, Any]) -> list[Any]:
    """Return the rectangles that a path fills; programs draw one as one command or as four lines."""
    items = path["items"]
    rects = [item[1] for item in items if item[0] == "re"]
    return rects or ([path["rect"]] if not any(map(_strokes, items)) else [])


def _strokes(item: tuple[Any, ...]) -> int:
    """Return how many curves or slanted lines a part of a path has."""
    match item:
        case "l", start, end:
            return _is_slanted(start, end)
        case "qu", (first, second, third, fourth):
            return _is_slanted(first, second) + _is_slanted(third, fourth)
        case "c", *_:
            return 1
    return 0


def _is_slanted(start: tuple[float, float], end: tuple[float, float]) -> bool:
    return abs(start[0] - end[0]) > SLANT and abs(start[1] - end[1]) > SLANT


def _clusters(paths: Sequence[_Drawn], shown: Page) -> Iterator[list[_Drawn]]:
    """Group paths that touch on a coarse grid of the page: a map may have 100,000 of them."""
    cell = max(CELL, max(shown.width, shown.height) / MOST_CELLS)
    painted = np.zeros((int(shown.height / cell) + 2, int(shown.width / cell) + 2), np.uint8)
    for path in paths:
        left, top, right, bottom = (int(edge / cell) for edge in path.box)
        painted[top : bottom + 1, left : right + 1] = 1
    _, labels = cv2.connectedComponents(painted, connectivity=8)
    groups: defaultdict[int, list[_Drawn]] = defaultdict(list)
    for path in paths:
        groups[int(labels[int(path.box.y1 / cell), int(path.box.x1 / cell)])].append(path)
    yield from groups.values()


def _bars(cluster: Iterable[_Drawn]) -> int:
    """Return how many heights (or lengths) bars have; bars are areas of one width that stand on one line."""
    ends: defaultdict[tuple[str, int, int], set[int]] = defaultdict(set)
    for box in (box for path in cluster for box in path.filled):
        across, down = box.x2 - box.x1, box.y2 - box.y1
        if min(across, down) >= SLANT:
            for side in (box.y1, box.y2):
                ends["level", round(side), round(across)].add(round(down))
            for side in (box.x1, box.x2):
                ends["upright", round(side), round(down)].add(round(across))
    return max(map(len, ends.values()), default=0)


def displayed_box(rect: Any, page: pymupdf.Page, shown: Page) -> Box | None:
    """Return a rectangle of the unrotated page as displayed, None if it lies outside the page."""
    # Without normalising, a rectangle drawn from right to left would count as empty.
    turned = pymupdf.Rect(rect).normalize() * page.rotation_matrix & page.rect
    if turned.is_empty:
        return None
    return Box(*(round(edge, 2) for edge in turned))
