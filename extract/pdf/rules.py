"""Lines drawn on a page: they show how far a head of a table reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from core.locations import Box
from extract.pdf.mupdf import pymupdf

# A filled rectangle this thin (in points) is a line; pieces this near to each other are one line.
THICKEST, SAME_HEIGHT, JOINT = 2.5, 1.0, 1.0
SHORTEST = 6.0
MOST_PATHS = 20_000


class Rule(NamedTuple):
    """A horizontal line on the displayed page: height, left and right end, in points."""

    y: float
    x1: float
    x2: float


def horizontal_rules(page: pymupdf.Page) -> list[Rule]:
    """Return the horizontal lines of a page from top to bottom; none of a drawing of very many paths."""
    paths = page.get_cdrawings()
    if len(paths) > MOST_PATHS:
        return []
    matrix = page.rotation_matrix
    boxes = (Box(*(pymupdf.Rect(rect) * matrix)) for rect in _flat_shapes(paths))
    return _join(Rule((box.y1 + box.y2) / 2, box.x1, box.x2) for box in boxes if _is_horizontal(box))


def _flat_shapes(paths: Iterable[dict[str, Any]]) -> Iterator[tuple[float, float, float, float]]:
    """Yield the corners of lines and rectangles."""
    for path in paths:
        for item in path["items"]:
            if item[0] == "l":
                (x1, y1), (x2, y2) = item[1:3]
                yield min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
            elif item[0] == "re":
                x1, y1, x2, y2 = item[1]
                yield min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _is_horizontal(box: Box) -> bool:
    height = box.y2 - box.y1
    return height <= THICKEST and box.x2 - box.x1 > 2 * height


def _join(pieces: Iterable[Rule]) -> list[Rule]:
    """Join the pieces of a line: borders are drawn cell by cell."""
    rules: list[Rule] = []
    for piece in sorted(pieces, key=lambda rule: (round(rule.y / SAME_HEIGHT), rule.x1)):
        last = rules[-1] if rules else None
        if last and abs(piece.y - last.y) <= SAME_HEIGHT and last.x1 <= piece.x1 <= last.x2 + JOINT:
            rules[-1] = last._replace(x2=max(last.x2, piece.x2))
        else:
            rules.append(piece)
    return [rule for rule in rules if rule.x2 - rule.x1 >= SHORTEST]
