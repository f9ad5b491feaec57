"""Cells and rows of tables: words side by side, cut at wide gaps, at leading dots and between figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from core.locations import Box
from extract.pdf.lines import PdfLine, continues_row, enclosing_box

# Words separated by more than this many type sizes are in different cells; figures by less, and by still less
# if the second one has a currency sign.
CELL_GAP, FIGURE_GAP, CURRENCY_GAP = 0.9, 0.45, 0.36
CELL_CHARS = 40
# A longer cell is a description if so many figures end its row.
FIGURES_BEHIND_WORDS, DESCRIPTION_CHARS = 2, 150

NUMBER = re.compile(
    r"(?<![(\-–—+$€£¥\s])[(\-–—+$€£¥\s]*+\d[\d.,]*+[\s)%x*]*+(\(\w\))?|(?<![—–\-])[—–\-]++\s*+%?|n/?[am]|\*++",
    re.IGNORECASE,
)
YEAR = re.compile(r"(19|20)\d\d(\s*\(\w\))?\*{0,2}")
# A day whose month stands above it and whose year below: “28,”.
DAY_OF_DATE = re.compile(r"\d{1,2},")
CURRENCY = re.compile(r"\(?(US|C|A|HK)?[$€£¥]")
TAIL = re.compile(r"[%)]+")
# “495” and “$1,204” in “495 $1,204”; “(1)” is the mark of a footnote.
FIGURE = re.compile(r"[(\-–—+$€£¥]{0,6}+\d[\d.,]*+[)%]*+|—|–")
FOOTNOTE = re.compile(r"\(\w\)")
# A mark of a footnote is no higher than this share of the type before it, and raised by this share of itself.
MARK = re.compile(r"\(?\w{1,2}\)?|[*†‡§]{1,3}")
MARK_SIZE, RAISED = 0.8, 0.5
# “Cash . . . . . 1,815”: fewer dots stand for words that are left out.
DOTS = ".…·"
LEADER = re.compile(f"[{DOTS}]+")
FEWEST_DOTS = 4

Word = tuple[str, Box]


@dataclass(frozen=True, slots=True)
class TableCell:
    """The contents of one row and column: usually one piece of a line."""

    lines: tuple[PdfLine, ...]
    box: Box
    text: str

    @classmethod
    def of(cls, *lines: PdfLine) -> Self:
        """Put pieces of a line together."""
        if len(lines) == 1:
            return cls(lines, lines[0].box, lines[0].text)
        return cls(lines, enclosing_box([line.box for line in lines]), " ".join(line.text for line in lines))

    @property
    def size(self) -> float:
        """The size of its type, in points."""
        return self.lines[0].size

    @property
    def middle(self) -> float:
        """The place of its middle across the page, in points."""
        return (self.box.x1 + self.box.x2) / 2

    @property
    def is_number(self) -> bool:
        """Whether the text is a figure, or a placeholder for one."""
        return bool(NUMBER.fullmatch(self.text))

    @property
    def is_year(self) -> bool:
        """Whether it is a year, as in the header of a column."""
        return bool(YEAR.fullmatch(self.text))

    @property
    def is_figure(self) -> bool:
        """Whether it is a figure that names no column."""
        return self.is_number and not self.is_year and not DAY_OF_DATE.fullmatch(self.text)


@dataclass(frozen=True, slots=True)
class TableRow:
    """Cells side by side; `block` is the index at which the page's blocks continue without the table."""

    block: int
    cells: tuple[TableCell, ...]
    box: Box

    @classmethod
    def of(cls, block: int, cells: tuple[TableCell, ...]) -> Self:
        """Put cells into a row."""
        return cls(
            block, cells, cells[0].box if len(cells) == 1 else enclosing_box([cell.box for cell in cells])
        )

    @property
    def size(self) -> float:
        """The size of its type, in points."""
        return self.cells[0].size

    @property
    def is_tabular(self) -> bool:
        """Whether this could be a row of a table: several cells, all short, or figures behind long ones."""
        longest = max((len(cell.text) for cell in self.cells[1:]), default=0)
        is_short = longest <= CELL_CHARS or (longest <= DESCRIPTION_CHARS and self._ends_with_figures)
        return len(self.cells) > 1 and is_short

    @property
    def _ends_with_figures(self) -> bool:
        behind = self.cells[1:][-FIGURES_BEHIND_WORDS:]
        return len(behind) == FIGURES_BEHIND_WORDS and all(cell.is_number for cell in behind)

    @property
    def data_left(self) -> float:
        """The left edge of the cells after the first."""
        return min(cell.box.x1 for cell in self.cells[1:])

    @property
    def has_figures(self) -> bool:
        """Whether a cell after the first holds a figure that is no year."""
        return any(cell.is_figure for cell in self.cells[1:])


def table_rows(blocks: Sequence[Sequence[PdfLine]]) -> Iterator[TableRow]:
    """Yield the lines of a page as rows: those side by side in the order of the content stream."""
    row: list[PdfLine] = []
    row_block = 0
    for block, lines in enumerate(blocks):
        for line in lines:
            if row and not _continues(line, row):
                yield TableRow.of(row_block, _cells(row))
                row = []
            if not row:
                row_block = block
            row.append(line)
    if row:
        yield TableRow.of(row_block, _cells(row))


def _continues(line: PdfLine, row: Sequence[PdfLine]) -> bool:
    """Whether a line continues a row to the right; marks of footnotes may be raised above it."""
    if continues_row(line, row[-1]):
        return True
    if _is_mark(line, row[-1]):
        box, before = line.box, row[-1].box
        return box.x1 >= before.x2 - 1 and before.y1 - RAISED * _height(line) < box.y2 and box.y1 < before.y2
    return len(row) > 1 and _is_mark(row[-1], row[-2]) and continues_row(line, row[-2])


def _is_mark(line: PdfLine, previous: PdfLine) -> bool:
    """Whether a line is the small mark of a footnote behind another one."""
    is_small = _height(line) <= MARK_SIZE * _height(previous)
    return is_small and len(line.words) == 1 and MARK.fullmatch(line.words[0][0]) is not None


def _height(line: PdfLine) -> float:
    """Return the height of the last word: a line of MuPDF may have type of several sizes."""
    box = line.words[-1][1]
    return box.y2 - box.y1


def _cells(lines: Iterable[PdfLine]) -> tuple[TableCell, ...]:
    """Cut lines into cells; a currency sign goes with what follows, a percent sign with what precedes."""
    cells: list[TableCell] = []
    for piece in (piece for line in lines for piece in _pieces(line)):
        if cells and (CURRENCY.fullmatch(cells[-1].text) or _ends_with(cells[-1], piece)):
            cells[-1] = TableCell.of(*cells[-1].lines, piece)
        else:
            cells.append(TableCell.of(piece))
    return tuple(cells)


def _ends_with(cell: TableCell, piece: PdfLine) -> bool:
    """Whether a piece is the end of the cell before: a percent sign, the mark of a footnote."""
    is_near = piece.box.x1 - cell.box.x2 <= cell.size
    return TAIL.fullmatch(piece.text) is not None or (is_near and _is_mark(piece, cell.lines[-1]))


def _pieces(line: PdfLine) -> Iterator[PdfLine]:
    """Cut a line where cells end. Dots that lead from one to the next are left out; their place is a cut."""
    words = line.words
    if len(words) == 1:  # most lines of tables have one word
        yield line
        return
    dots = _leading_dots(words) if any(word[0] in DOTS for word, _ in words) else set()
    piece: list[Word] = []
    was_dots = False
    for at, word in enumerate(words):
        if at in dots:
            was_dots = True
            continue
        if piece and (was_dots or _ends_cell(piece[-1], word, line.size)):
            yield piece_of(line, piece)
            piece = []
        piece.append(word)
        was_dots = False
    if piece:
        yield line if len(piece) == len(words) else piece_of(line, piece)


def _leading_dots(words: Sequence[Word]) -> set[int]:
    """Return the indexes of words that are only dots, where at least `FEWEST_DOTS` dots follow each other."""
    found: set[int] = set()
    run: list[int] = []
    for at in range(len(words) + 1):
        if at < len(words) and LEADER.fullmatch(words[at][0]):
            run.append(at)
        elif run:
            if sum(len(words[each][0]) for each in run) >= FEWEST_DOTS and len(run) < len(words):
                found.update(run)
            run = []
    return found


def _ends_cell(word: Word, following: Word, size: float) -> bool:
    """Whether a cell ends between two words."""
    (left, left_box), (right, right_box) = word, following
    gap = right_box.x1 - left_box.x2
    if gap > CELL_GAP * size or left.endswith("." * FEWEST_DOTS):
        return True
    if gap <= CURRENCY_GAP * size:
        return False
    if not FIGURE.fullmatch(left) or FOOTNOTE.fullmatch(right):
        return False
    if CURRENCY.match(right):
        return True
    return gap > FIGURE_GAP * size and FIGURE.fullmatch(right) is not None


def piece_of(line: PdfLine, words: list[Word]) -> PdfLine:
    """Return some words of a line as a line of their own."""
    return PdfLine(line.size, line.bold, line.italic, words, enclosing_box([box for _, box in words]))
