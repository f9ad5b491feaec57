"""Layout: from lines scattered over a page to paragraphs in reading order.

Coordinates are those of the upright page, in any unit. Only white space separates lines into columns: an
empty strip between two stacks of long lines separates columns. Short pieces side by side are cells of one
row, as on a receipt, and are read across.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from statistics import median

from core.locations import Box

# A column has at least so many lines, half of which are at least so many times as wide as high.
COLUMN_LINES, COLUMN_WIDTH = 3, 6.0
# All lengths below are in heights of a line. The strip between columns is at least so wide.
GUTTER = 0.25
# Boxes may overlap a little with the lines above and below: this share of their height is ignored at both
# ends.
OVERLAP = 0.2
# A paragraph is separated by so much more white than its lines are (whose spacing is at most so much). Or it
# is indented by so much, or follows a line that ends early by this share of the column's width.
SPACE, MOST_LEADING, INDENT, SHORT = 0.4, 1.2, 0.6, 0.25
# A change of type size by this factor starts a new paragraph.
OTHER_SIZE = 1.3

Strip = tuple[float, float]
Row = list[int]
"""The indexes of pieces that stand side by side, from left to right."""


@dataclass(frozen=True, slots=True)
class LineShape:
    """The geometry of a piece of a line: its box, the width of its first word, and the line it belongs to.

    A line is cut into pieces where it may be two lines that stand close together in neighbouring columns.
    """

    box: Box
    first_word: float
    line: int

    @property
    def height(self) -> float:
        """The height of the line."""
        return self.box.y2 - self.box.y1


def paragraphs(lines: Sequence[LineShape]) -> list[list[int]]:
    """Return the pieces of lines (by their index) of each paragraph, all in reading order."""
    return [
        _flat(paragraph)
        for block in _blocks(list(range(len(lines))), lines)
        for paragraph in _split(_rows(block, lines), lines)
    ]


# --- Columns -----------------------------------------------------------------------------------------------


def _blocks(region: list[int], lines: Sequence[LineShape]) -> Iterator[list[int]]:
    """Yield stacks of lines that belong together: above the columns, each column, below the columns."""
    bands = _bands(region, lines)
    found = _widest_run(bands, lines)
    if found is None:
        yield region
        return
    start, end, columns = found
    for part in (_flat(bands[:start]), *columns, _flat(bands[end:])):
        if part:
            yield from _blocks(part, lines)


def _flat(bands: Sequence[list[int]]) -> list[int]:
    return [index for band in bands for index in band]


def _bands(region: list[int], lines: Sequence[LineShape]) -> list[list[int]]:
    """Group lines between which no straight horizontal cut is possible, from top to bottom."""
    bands: list[list[int]] = []
    bottom = float("-inf")
    for index in sorted(region, key=lambda index: _core(lines[index])[0]):
        top, end = _core(lines[index])
        if top >= bottom:
            bands.append([])
        bands[-1].append(index)
        bottom = max(bottom, end)
    return bands


def _core(line: LineShape) -> Strip:
    cut = OVERLAP * line.height
    return line.box.y1 + cut, line.box.y2 - cut


def _widest_run(
    bands: list[list[int]], lines: Sequence[LineShape]
) -> tuple[int, int, list[list[int]]] | None:
    """Return the run of bands (start, end) with the most lines in columns, and these columns."""
    best: tuple[int, int, list[list[int]]] | None = None
    most = reached = 0
    for start in range(len(bands)):
        end, strips = _run_from(start, bands, lines)
        if end <= reached:
            continue  # the band is part of the previous run
        reached = end
        inside = _flat(bands[start:end])
        columns = _columns(inside, strips, lines)
        if len(columns) > 1 and len(inside) > most:
            best, most = (start, end, columns), len(inside)
    return best


def _run_from(start: int, bands: list[list[int]], lines: Sequence[LineShape]) -> tuple[int, list[Strip]]:
    """Return the end of the bands that an empty strip crosses from `start` downwards, and all such strips."""
    strips = _gaps(bands[start], lines)
    for end in range(start + 1, len(bands)):
        narrowed = _common(strips, _gaps(bands[end], lines), _gutter(bands[end], lines))
        if not _is_between(narrowed, _flat(bands[start : end + 1]), lines):
            return end, strips
        strips = narrowed
    return len(bands), strips


def _gutter(band: list[int], lines: Sequence[LineShape]) -> float:
    return GUTTER * median(lines[index].height for index in band)


def _gaps(band: list[int], lines: Sequence[LineShape]) -> list[Strip]:
    """Return the horizontal stretches in which a band has no text, its margins included."""
    least = _gutter(band, lines)
    gaps: list[Strip] = []
    right = float("-inf")
    for index in sorted(band, key=lambda index: lines[index].box.x1):
        box = lines[index].box
        if box.x1 - right >= least:
            gaps.append((right, box.x1))
        right = max(right, box.x2)
    return [*gaps, (right, float("inf"))]


def _common(some: list[Strip], others: list[Strip], least: float) -> list[Strip]:
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others]
    return [(left, right) for left, right in both if right - left >= least]


def _is_between(strips: list[Strip], region: list[int], lines: Sequence[LineShape]) -> bool:
    around = reduce(Box.union, (lines[index].box for index in region))
    return any(left >= around.x1 and right <= around.x2 for left, right in strips)


def _columns(region: list[int], strips: list[Strip], lines: Sequence[LineShape]) -> list[list[int]]:
    """Cut a region at the strips that have columns on either side."""
    columns: list[list[int]] = []
    rest = region
    for left, _ in sorted(strips):
        before = [index for index in rest if lines[index].box.x2 <= left]
        after = [index for index in rest if lines[index].box.x2 > left]
        if _is_column(before, lines) and _is_column(after, lines):
            columns.append(before)
            rest = after
    return [*columns, rest]


def _is_column(region: list[int], lines: Sequence[LineShape]) -> bool:
    if len(region) < COLUMN_LINES:
        return False
    shapes = [lines[index] for index in region]
    return median((line.box.x2 - line.box.x1) / line.height for line in shapes) >= COLUMN_WIDTH


# --- Rows and paragraphs -----------------------------------------------------------------------------------


def _rows(block: list[int], lines: Sequence[LineShape]) -> list[Row]:
    """Group lines of the same height on the page, from top to bottom."""
    rows: list[Row] = []
    for index in sorted(block, key=lambda index: _middle(lines[index])):
        same = rows and abs(_middle(lines[index]) - _middle(lines[rows[-1][0]])) < lines[index].height / 2
        if not same or _on_top_of(index, rows[-1], lines):
            rows.append([])
        rows[-1].append(index)
    return [sorted(row, key=lambda index: lines[index].box.x1) for row in rows]


def _middle(line: LineShape) -> float:
    return (line.box.y1 + line.box.y2) / 2


def _on_top_of(index: int, row: Row, lines: Sequence[LineShape]) -> bool:
    """Whether a line overlaps a line of the row by much of its width: then they do not stand side by side."""
    box = lines[index].box
    others = [lines[other].box for other in row]
    return any(min(box.x2, other.x2) - max(box.x1, other.x1) > (other.x2 - other.x1) / 2 for other in others)


def _split(rows: list[Row], lines: Sequence[LineShape]) -> Iterator[list[Row]]:
    around = reduce(Box.union, (lines[index].box for row in rows for index in row))
    leading = _leading(rows, lines)
    paragraph = rows[:1]
    following = [*rows[1:], None]
    for (above, row), below in zip(pairwise(rows), following[1:], strict=True):
        if _starts_anew(above, row, below, lines, around, leading):
            yield paragraph
            paragraph = []
        paragraph.append(row)
    yield paragraph


def _leading(rows: list[Row], lines: Sequence[LineShape]) -> float:
    """Return the usual white space between two lines of a paragraph, in heights of a line."""
    gaps = sorted(_white(lines[above[0]], lines[row[0]]) for above, row in pairwise(rows))
    return min(gaps[(len(gaps) - 1) // 3], MOST_LEADING) if gaps else 0.0


def _white(above: LineShape, line: LineShape) -> float:
    return (line.box.y1 - above.box.y2) / min(above.height, line.height)


def _starts_anew(
    above: Row, row: Row, below: Row | None, lines: Sequence[LineShape], around: Box, leading: float
) -> bool:
    if len({lines[index].line for index in above}) > 1 or len({lines[index].line for index in row}) > 1:
        return True  # cells: each row is a paragraph
    last, line = lines[above[-1]], lines[row[0]]
    if _white(last, line) > leading + SPACE:
        return True
    if max(last.height, line.height) > OTHER_SIZE * min(last.height, line.height):
        return True
    return _ends_early(last, line, around) or _is_indented(lines[above[0]], line, below, lines)


def _ends_early(last: LineShape, line: LineShape, around: Box) -> bool:
    """Whether the first word of `line` would easily have fitted on the line above."""
    room = around.x2 - last.box.x2
    return room > SHORT * (around.x2 - around.x1) and room > line.first_word + line.height


def _is_indented(last: LineShape, line: LineShape, below: Row | None, lines: Sequence[LineShape]) -> bool:
    """Whether a line starts to the right of both its neighbours, unlike text that flows round a picture."""
    edge = line.box.x1 - INDENT * line.height
    return last.box.x1 <= edge and below is not None and lines[below[0]].box.x1 <= edge
