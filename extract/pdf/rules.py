"""Lines drawn on a page: they show how far a head of a table reaches, and the cells of a table in a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from core.locations import Box
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


class Upright(NamedTuple):
    """A vertical line on the displayed page: its distance from the left, upper and lower end, in points."""

    x: float
    y1: float
    y2: float


class Ground(NamedTuple):
    """A filled rectangle: what stands on it may be the head of a table."""

    box: Box
    colour: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DrawnLines:
    """The horizontal lines of a page from top to bottom, and the vertical ones from left to right.

    `grounds` are in the order in which they are drawn: the last one is seen.
    """

    rules: tuple[Rule, ...] = ()
    uprights: tuple[Upright, ...] = ()
    grounds: tuple[Ground, ...] = ()


def drawn_lines(page: pymupdf.Page) -> DrawnLines:
    """Return the lines of a page; none of a drawing of very many paths."""
    paths = page.get_cdrawings()
    if len(paths) > MOST_PATHS:
        return DrawnLines()
    turned: Any = page.rotation_matrix if page.rotation else ()
    matrix = tuple(turned)
    corners = [_on_displayed_page(shape, matrix) for shape in _shapes(paths)]
    level = _join(Rule((y1 + y2) / 2, x1, x2) for x1, y1, x2, y2 in corners if _is_thin(y2 - y1, x2 - x1))
    upright = _join(Rule((x1 + x2) / 2, y1, y2) for x1, y1, x2, y2 in corners if _is_thin(x2 - x1, y2 - y1))
    grounds = (
        Ground(Box(*_on_displayed_page(item[1], matrix)), tuple(path["fill"]))
        for path in paths
        if "f" in path["type"] and path.get("fill")
        for item in path["items"]
        if item[0] == "re"
    )
    return DrawnLines(tuple(level), tuple(Upright(*rule) for rule in upright), tuple(grounds))


def _shapes(paths: Iterable[dict[str, Any]]) -> Iterator[Corners]:
    """Yield two opposite corners of each line and rectangle, and of each side of a frame."""
    for path in paths:
        is_stroked = "s" in path["type"]
        for item in path["items"]:
            if item[0] == "re":
                yield item[1]
                if is_stroked:
                    yield from _sides(*item[1])
            elif item[0] == "l":
                yield *item[1], *item[2]


def _sides(x1: float, y1: float, x2: float, y2: float) -> Iterator[Corners]:
    yield x1, y1, x2, y1
    yield x1, y2, x2, y2
    yield x1, y1, x1, y2
    yield x2, y1, x2, y2


def _on_displayed_page(shape: Corners, matrix: tuple[float, ...]) -> Corners:
    """Return the upper left and lower right corner, on a turned page by its matrix.

    Plain numbers: MuPDF's own types take ten times as long.
    """
    x1, y1, x2, y2 = shape
    if matrix:
        a, b, c, d, e, f = matrix
        x1, y1, x2, y2 = a * x1 + c * y1 + e, b * x1 + d * y1 + f, a * x2 + c * y2 + e, b * x2 + d * y2 + f
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _is_thin(thickness: float, length: float) -> bool:
    return thickness <= THICKEST and length > 2 * thickness


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
