"""Tables in a grid of drawn lines: rows, columns and merged cells are what the lines show.

Word processors and browsers draw the borders of cells. Where lines stand on all sides of the words, nothing
needs to be guessed by their places.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import mean

from core.locations import Box
from core.text.tables import MOST_ROW_WORDS
from extract.merged_cells import FEWEST_ROWS, MergedCell, rows_of_head, spread, titles_of
from extract.pdf.lines import PdfLine
from extract.pdf.rules import DrawnLines, Ground, Rule, Upright
from extract.pdf.table_cells import TableCell, TableRow, piece_of, table_rows
from extract.pdf.tables import Table

# Edges of cells that are this near, in points, are one; lines this near touch each other.
SAME_EDGE, TOUCHING = 3.0, 3.0
# Two grids of the same columns with less between them, in points, are one table. Of a table that is a grid in
# part only, the other rows are this near, in type sizes.
SPACER, CLOSE = 15.0, 1.5
# A page with more lines is a drawing.
MOST_LINES = 600
MOST_CELLS = 5_000
# Words may reach so many points beyond the line beside them; a larger share of words that do is a drawing.
BEYOND, CROSSING_SHARE = 2.0, 0.02
# Of the rows, so many have words in two cells, and fewer are running text.
FILLED_SHARE, TEXT_SHARE = 0.5, 0.25
# So many cells side by side that have as many lines, at the same heights, are rows that no line parts.
FEWEST_SIDE_BY_SIDE = 3
WORDS_OF_VALUE = 2
# A table of fewer columns, all of words in the same type, has no head: it may be names and values.
FEWEST_HEADED = 3
# With fewer lines above, which may be a running head, a table is at the top of its page.
FEWEST_ABOVE = 2
# A head stands on another ground than so many rows below it: the grounds of rows may alternate.
NEXT_ROWS = 2

Lines = list[PdfLine]
Word = tuple[str, Box]
Areas = list[MergedCell[Lines]]


def with_ruled_tables(blocks: Sequence[Lines], drawn: DrawnLines) -> Iterator[Lines | Table]:
    """Yield the blocks of a page in order, with tables in place of the lines in their cells."""
    tables = _tables(blocks, drawn)
    seen: set[int] = set()
    for lines in blocks:
        for number, part in groupby(_parted(lines, tables), key=itemgetter(0)):
            if number is None:
                yield [piece for _, piece in part]
            elif number not in seen:
                seen.add(number)
                yield from tables[number].parts()


def _tables(blocks: Sequence[Lines], drawn: DrawnLines) -> list[_RuledTable]:
    grids = list(_grids(drawn))
    rows = list(table_rows(blocks)) if grids else []
    outside = [row for row in rows if not any(grid.place(row.box) for grid in grids)]
    return [
        table
        for grid in grids
        if (table := _read(grid, blocks, drawn.grounds)) is not None
        and not any(map(grid.goes_on_with, outside))
    ]


def _parted(lines: Lines, tables: Sequence[_RuledTable]) -> Iterator[tuple[int | None, PdfLine]]:
    """Yield the lines of a block, cut at the frames of tables, with the number of the table they stand in."""
    for line in lines:
        if not tables:
            yield None, line
            continue
        places = [
            next((number for number, table in enumerate(tables) if table.grid.place(box)), None)
            for _, box in line.words
        ]
        for number, part in groupby(zip(places, line.words, strict=True), key=itemgetter(0)):
            yield number, _piece(line, [word for _, word in part])


def _piece(line: PdfLine, words: list[Word]) -> PdfLine:
    return line if len(words) == len(line.words) else piece_of(line, words)


# --- The grid ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """The edges of columns and rows, and which of them a line is drawn on: (row, edge) and (edge, column)."""

    xs: list[float]
    ys: list[float]
    between_columns: frozenset[tuple[int, int]]
    between_rows: frozenset[tuple[int, int]]

    @property
    def rows(self) -> int:
        return len(self.ys) - 1

    @property
    def columns(self) -> int:
        return len(self.xs) - 1

    @property
    def size(self) -> float:
        return (self.xs[-1] - self.xs[0]) * (self.ys[-1] - self.ys[0])

    def place(self, box: Box) -> tuple[int, int] | None:
        """Return row and column of the middle of a box, None if it is outside."""
        x, y = (box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2
        if not (self.xs[0] <= x < self.xs[-1] and self.ys[0] <= y < self.ys[-1]):
            return None
        return bisect_right(self.ys, y) - 1, bisect_right(self.xs, x) - 1

    def overlaps(self, other: _Grid) -> bool:
        return (
            self.xs[0] < other.xs[-1]
            and other.xs[0] < self.xs[-1]
            and self.ys[0] < other.ys[-1]
            and other.ys[0] < self.ys[-1]
        )

    def goes_on_with(self, row: TableRow) -> bool:
        """Whether cells stand right above or below: the grid is only a part of their table."""
        gap = max(row.box.y1 - self.ys[-1], self.ys[0] - row.box.y2)
        is_within = self.xs[0] <= row.box.x1 and row.box.x2 <= self.xs[-1]
        return row.is_tabular and is_within and -SAME_EDGE <= gap <= CLOSE * row.size

    def with_below(self, other: _Grid) -> _Grid | None:
        """Return both as one if the other has the same columns and begins where this one ends."""
        is_near = 0 <= other.ys[0] - self.ys[-1] <= SPACER
        has_same = len(self.xs) == len(other.xs) and all(
            abs(one - two) <= SAME_EDGE for one, two in zip(self.xs, other.xs, strict=True)
        )
        if not (is_near and has_same):
            return None
        below = len(self.ys)
        return _Grid(
            self.xs,
            [*self.ys, *other.ys],
            self.between_columns | {(row + below, edge) for row, edge in other.between_columns},
            self.between_rows | {(edge + below, column) for edge, column in other.between_rows},
        )

    def is_crossed(self, box: Box) -> bool:
        """Whether a box reaches over the line between two columns."""
        place = self.place(box)
        if place is None:
            return False
        row, column = place
        over_left = box.x1 < self.xs[column] - BEYOND and (row, column) in self.between_columns
        over_right = box.x2 > self.xs[column + 1] + BEYOND and (row, column + 1) in self.between_columns
        return over_left or over_right

    def areas(self) -> list[MergedCell[None]] | None:
        """Return the cells, those without a line between them as one; None if one is no rectangle."""
        areas: list[MergedCell[None]] = []
        taken: set[tuple[int, int]] = set()
        for row in range(self.rows):
            for column in range(self.columns):
                if (row, column) in taken:
                    continue
                across, down = 1, 1
                while column + across < self.columns and (row, column + across) not in self.between_columns:
                    across += 1
                while row + down < self.rows and (row + down, column) not in self.between_rows:
                    down += 1
                places = {(row + r, column + c) for r in range(down) for c in range(across)}
                if places & taken or not self._is_whole(row, column, down, across):
                    return None
                taken |= places
                areas.append(MergedCell(None, row, column, down, across))
        return areas

    def _is_whole(self, row: int, column: int, down: int, across: int) -> bool:
        """Whether no line is drawn within a cell."""
        is_parted = any(
            (row + r, column + c) in self.between_columns for r in range(down) for c in range(1, across)
        ) or any((row + r, column + c) in self.between_rows for r in range(1, down) for c in range(across))
        return not is_parted


def _grids(drawn: DrawnLines) -> Iterator[_Grid]:
    """Yield the grids that lines form, none within another: the smaller one holds the words."""
    if len(drawn.uprights) < 1 or len(drawn.rules) < 2 or len(drawn.rules) + len(drawn.uprights) > MOST_LINES:
        return
    found: list[_Grid] = []
    for rules, uprights in _connected(drawn):
        if (grid := _grid(rules, uprights)) is not None:
            found.append(grid)
    innermost: list[_Grid] = []
    for grid in sorted(found, key=lambda grid: grid.size):
        if not any(map(grid.overlaps, innermost)):
            innermost.append(grid)
    joined: list[_Grid] = []
    for grid in sorted(innermost, key=lambda grid: (round(grid.xs[0]), grid.ys[0])):
        if joined and (both := joined[-1].with_below(grid)) is not None:
            joined[-1] = both
        else:
            joined.append(grid)
    yield from joined


def _connected(drawn: DrawnLines) -> Iterator[tuple[list[Rule], list[Upright]]]:
    """Yield the lines that touch each other, directly or through others."""
    group = list(range(len(drawn.uprights)))
    rules_of: defaultdict[int, list[Rule]] = defaultdict(list)
    for rule in drawn.rules:
        touching = {group[at] for at, upright in enumerate(drawn.uprights) if _touch(rule, upright)}
        if not touching:
            continue
        first = min(touching)
        group = [first if each in touching else each for each in group]
        for other in touching - {first}:
            rules_of[first] += rules_of.pop(other, [])
        rules_of[first].append(rule)
    for number, rules in rules_of.items():
        yield rules, [each for at, each in enumerate(drawn.uprights) if group[at] == number]


def _touch(rule: Rule, upright: Upright) -> bool:
    return (
        rule.x1 - TOUCHING <= upright.x <= rule.x2 + TOUCHING
        and upright.y1 - TOUCHING <= rule.y <= upright.y2 + TOUCHING
    )


def _grid(rules: Sequence[Rule], uprights: Sequence[Upright]) -> _Grid | None:
    """Return the grid of lines; the outermost may be missing where the others end."""
    ends = [(rule.x1, rule.x2) for rule in rules], [(upright.y1, upright.y2) for upright in uprights]
    (left, right), (top, bottom) = ((min(a for a, _ in each), max(b for _, b in each)) for each in ends)
    xs = _edges([*(upright.x for upright in uprights), left, right])
    ys = _edges([*(rule.y for rule in rules), top, bottom])
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows < 2 or columns < 2 or rows * columns > MOST_CELLS:
        return None
    between_columns = {
        (row, edge)
        for upright in uprights
        for edge in [_nearest(xs, upright.x)]
        for row in range(rows)
        if upright.y1 <= (ys[row] + ys[row + 1]) / 2 <= upright.y2
    }
    between_rows = {
        (edge, column)
        for rule in rules
        for edge in [_nearest(ys, rule.y)]
        for column in range(columns)
        if rule.x1 <= (xs[column] + xs[column + 1]) / 2 <= rule.x2
    }
    return _Grid(xs, ys, frozenset(between_columns), frozenset(between_rows))


def _edges(places: Iterable[float]) -> list[float]:
    """Return places from left to right, those near each other as one: borders are drawn for both cells."""
    groups: list[list[float]] = []
    for place in sorted(places):
        if groups and place - groups[-1][0] <= SAME_EDGE:
            groups[-1].append(place)
        else:
            groups.append([place])
    return list(map(mean, groups))


def _nearest(edges: Sequence[float], place: float) -> int:
    return min(range(len(edges)), key=lambda at: abs(edges[at] - place))


# --- The words in it ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _RuledTable:
    """A grid and its cells, row by row, with their lines.

    `grounds` are what the page has below its words. At the top of a page it may go on from the page before.
    """

    grid: _Grid
    cells: Areas
    grounds: Sequence[Ground]
    is_at_top: bool

    def parts(self) -> Iterator[Lines | Table]:
        """Yield the titles in the first rows, each a cell as wide as the table, and the table below them."""
        titles = titles_of(self.cells, self.grid.rows, self.grid.columns)
        yield from (title.content for title in titles if title.content)
        first = sum(title.rows for title in titles)
        cells = [replace(cell, row=cell.row - first) for cell in self.cells[len(titles) :]]
        columns = self.grid.columns
        heads = rows_of_head(cells, self.grid.rows - first, columns, _is_figure)
        if not self._is_head(cells, heads):
            heads = 0
        head, *body = spread(cells, columns, heads, _all_lines, _count_chars)
        widths = [right - left for left, right in pairwise(self.grid.xs)]
        yield Table([head, *(part for row in body for part in _rows_within(row, widths))])

    def is_table(self) -> bool:
        """Whether most rows have words in several cells, few are running text, and the first ones name it."""
        of_row: defaultdict[int, Areas] = defaultdict(list)
        for cell in self.cells:
            if cell.content:
                of_row[cell.row].append(cell)
        columns = {cell.column for cell in self.cells if cell.content}
        filled = sum(len(cells) > 1 for cells in of_row.values())
        texts = sum(sum(map(_count_words, cells)) > MOST_ROW_WORDS for cells in of_row.values())
        first = min(of_row, default=0)
        return (
            len(columns) > 1
            and len(of_row) >= FEWEST_ROWS
            and filled >= FILLED_SHARE * len(of_row)
            and texts <= TEXT_SHARE * len(of_row)
            and any(_has_letters(cell) for cell in self.cells if cell.row == first or cell.column == 0)
        )

    def _is_head(self, cells: Areas, heads: int) -> bool:
        """Whether the first rows name the columns: they look unlike the others, or words stand above figures.

        Words above several columns of words do, too, unless they may be a row of a table on the page before;
        above two columns they may be a name and its value.
        """
        head = [cell for cell in cells if cell.row < heads and cell.content]
        body = [cell for cell in cells if cell.row >= heads and cell.content]
        if not any(cell.column > 0 for cell in head):
            return False
        if all(map(_is_bold, head)) and not all(map(_is_bold, body)):
            return True
        next_rows = [cell for cell in body if cell.row < heads + NEXT_ROWS]
        if not {*map(self._ground, head)} & {*map(self._ground, next_rows)}:
            return True
        if any(_is_figure(cell.content) for cell in head):
            return False
        is_wide = self.grid.columns >= FEWEST_HEADED and not self.is_at_top
        return is_wide or any(_is_figure(cell.content) for cell in body if cell.column > 0)

    def _ground(self, cell: MergedCell[Lines]) -> tuple[float, ...] | None:
        """Return the colour on which the words of a cell stand, None without one."""
        box = cell.content[0].box
        x, y = (box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2
        seen = (
            ground.colour
            for ground in reversed(self.grounds)
            if ground.box.x1 <= x <= ground.box.x2 and ground.box.y1 <= y <= ground.box.y2
        )
        return next(seen, None)


def _read(grid: _Grid, blocks: Sequence[Lines], grounds: Sequence[Ground]) -> _RuledTable | None:
    """Return the table that the words in a grid are, None if they are none."""
    areas = grid.areas()
    if areas is None:
        return None
    area_at = {
        (area.row + down, area.column + across): at
        for at, area in enumerate(areas)
        for down in range(area.rows)
        for across in range(area.columns)
    }
    inside: list[Lines] = [[] for _ in areas]
    words = crossing = 0
    for line in (line for lines in blocks for line in lines):
        placed = [(area_at[place], word) for word in line.words if (place := grid.place(word[1])) is not None]
        words += len(placed)
        crossing += sum(grid.is_crossed(box) for _, (_, box) in placed)
        for at, part in groupby(placed, key=itemgetter(0)):
            inside[at].append(_piece(line, [word for _, word in part]))
    if crossing > CROSSING_SHARE * words:
        return None
    cells = [
        MergedCell(lines, area.row, area.column, area.rows, area.columns)
        for area, lines in zip(areas, inside, strict=True)
    ]
    above = sum(line.box.y2 <= grid.ys[0] for lines in blocks for line in lines)
    table = _RuledTable(grid, cells, grounds, is_at_top=above < FEWEST_ABOVE)
    return table if table.is_table() else None


def _rows_within(row: Sequence[Lines], widths: Sequence[float]) -> Iterator[list[Lines]]:
    """Yield a row, or those that no line parts: cells side by side have as many lines, at the same heights.

    Most could have held more, or are figures: no text that was wrapped. A cell of one line is of all rows.
    """
    levels = [_levels(lines) for lines in row]
    count = max(map(len, levels))
    several = [(each, width) for each, width in zip(levels, widths, strict=False) if len(each) > 1]
    has_figures = any(all(map(_is_value, lines)) for lines in row[1:] if len(lines) > 1)
    is_parted = (
        len(several) < (2 if has_figures else FEWEST_SIDE_BY_SIDE)
        or any(len(each) != count for each, _ in several)
        or any(
            _spread(_all_lines([each[at] for each, _ in several])) > several[0][0][at][0].size / 2
            for at in range(count)
        )
        or sum(not _is_wrapped(each, width) for each, width in several) <= len(several) / 2
    )
    if is_parted:
        yield list(row)
        return
    for at in range(count):
        yield [each[at] if len(each) > 1 else lines for each, lines in zip(levels, row, strict=True)]


def _is_wrapped(levels: Sequence[Lines], width: float) -> bool:
    """Whether some line of a cell had no room for the first word of the next one, and they are no figures."""
    if all(map(_is_value, _all_lines(levels))):
        return False
    return any(
        above[-1].box.x2 - above[0].box.x1 + (first := below[0].words[0][1]).x2 - first.x1 + below[0].size
        >= width
        for above, below in pairwise(levels)
    )


def _levels(lines: Lines) -> list[Lines]:
    """Return the lines of a cell by height."""
    levels: list[Lines] = []
    for line in lines:
        if levels and _spread([levels[-1][0], line]) <= line.size / 2:
            levels[-1].append(line)
        else:
            levels.append([line])
    return levels


def _spread(lines: Lines) -> float:
    """Return how far the lower edges of lines are apart, in points."""
    return max(line.box.y2 for line in lines) - min(line.box.y2 for line in lines)


def _is_bold(cell: MergedCell[Lines]) -> bool:
    return all(line.bold for line in cell.content)


def _is_value(line: PdfLine) -> bool:
    """Whether a line is a figure, perhaps with a unit: “1,815”, “0.6M”, “12 kg”."""
    return len(line.words) <= WORDS_OF_VALUE and any(map(str.isdigit, line.text))


def _is_figure(lines: Lines) -> bool:
    return len(lines) == 1 and TableCell.of(lines[0]).is_figure


def _has_letters(cell: MergedCell[Lines]) -> bool:
    return any(map(str.isalpha, "".join(line.text for line in cell.content)))


def _count_words(cell: MergedCell[Lines]) -> int:
    return sum(len(line.words) for line in cell.content)


def _count_chars(lines: Lines) -> int:
    return sum(len(line.text) for line in lines)


def _all_lines(parts: Sequence[Lines]) -> Lines:
    return [line for lines in parts for line in lines]
