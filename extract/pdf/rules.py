"""Lines drawn on a page: they show how far a head of a table reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from extract.pdf.mupdf import pymupdf

# A filled rectangle this thin (in points) is a line; pieces this near to each other are one line.
THICKEST, SAME_HEIGHT, JOINT = 2.5, 1.0, 1.0
SHORTEST = 6.0
MOST_PATHS = 20_000


Corners = tuple[float, float, float, float]


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
    shapes = _shapes(paths)
    if page.rotation:
        matrix: Any = page.rotation_matrix
        shapes = (_turn(shape, tuple(matrix)) for shape in shapes)
    return _join(
        Rule((y1 + y2) / 2, x1, x2)
        for x1, y1, x2, y2 in map(_sort_corners, shapes)
        if _is_rule(x1, y1, x2, y2)
    )


def _shapes(paths: Iterable[dict[str, Any]]) -> Iterator[Corners]:
    """Yield two opposite corners of each line and rectangle."""
    for path in paths:
        for item in path["items"]:
            if item[0] == "re":
                yield item[1]
            elif item[0] == "l":
                yield *item[1], *item[2]


def _turn(shape: Corners, matrix: tuple[float, ...]) -> Corners:
    """Return corners on the displayed page. Plain numbers: MuPDF's own types take ten times as long."""
    x1, y1, x2, y2 = shape
    a, b, c, d, e, f = matrix
    return a * x1 + c * y1 + e, b * x1 + d * y1 + f, a * x2 + c * y2 + e, b * x2 + d * y2 + f


def _sort_corners(shape: Corners) -> Corners:
    x1, y1, x2, y2 = shape
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _is_rule(x1: float, y1: float, x2: float, y2: float) -> bool:
    return y2 - y1 <= THICKEST and x2 - x1 > 2 * (y2 - y1)


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
