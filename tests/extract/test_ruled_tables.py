"""Tables in a grid of drawn lines: what the lines show is read; lines that show nothing are left alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from core.locations import Box
from extract.base import Element, Kind, Limits, Request
from extract.pdf.lines import PdfLine
from extract.pdf.reader import extract
from extract.pdf.ruled_tables import MOST_LINES, with_ruled_tables
from extract.pdf.rules import DrawnLines, Rule, Upright
from extract.pdf.tables import Table
from tests.extract.truth import holds

LIMITS = Limits(10)
LEFT, TOP, WIDTH, HEIGHT = 50.0, 100.0, 90.0, 20.0
Area = tuple[int, int, int, int]


class Drawing:
    """A page on which cells are drawn: (row, column, rows, columns) each, with their words."""

    def __init__(self, left: float = LEFT, top: float = TOP) -> None:
        self.pdf = pymupdf.open()
        self.page = self.pdf.new_page()
        self.left, self.top = left, top

    def write(self, x: float, y: float, text: str, *, bold: bool = False) -> None:
        """Write a line of 9 points."""
        self.page.insert_text((x, y), text, fontsize=9, fontname="hebo" if bold else "helv")

    def box(self, area: Area) -> pymupdf.Rect:
        """Return where a cell stands."""
        row, column, rows, columns = area
        x, y = self.left + WIDTH * column, self.top + HEIGHT * row
        return pymupdf.Rect(x, y, x + WIDTH * columns, y + HEIGHT * rows)

    def cell(
        self, area: Area, *lines: str, bold: bool = False, fill: tuple[float, ...] | None = None
    ) -> None:
        """Draw a cell with its borders and its words."""
        box = self.box(area)
        self.page.draw_rect(box, fill=fill, width=0.5)
        for at, line in enumerate(lines):
            self.write(box.x0 + 4, box.y0 + 13 + 11 * at, line, bold=bold)

    def rows(self, rows: Sequence[Sequence[str]], *, first: int = 0, bold_head: bool = False) -> None:
        """Draw rows of cells, each of one place."""
        for row, texts in enumerate(rows, start=first):
            for column, text in enumerate(texts):
                self.cell((row, column, 1, 1), text, bold=bold_head and row == first)

    def read(self, folder: Path) -> list[Element]:
        """Save the page, and return its elements; each table must stand where it says."""
        path = folder / "drawn.pdf"
        self.pdf.save(path)
        self.pdf.close()
        elements = [each for each in extract(path, Request(LIMITS)) if isinstance(each, Element)]
        for each in elements:
            assert each.kind is not Kind.TABLE or holds(path, each.located)
        return elements


@pytest.fixture
def drawing() -> Drawing:
    """Return an empty page."""
    return Drawing()


def tables(elements: Sequence[Element]) -> list[list[str]]:
    """Return the lines of each table, without the rule below its head."""
    found = [each.text.splitlines() for each in elements if each.kind is Kind.TABLE]
    return [[lines[0], *lines[2:]] for lines in found]


def test_merged_cells_name_all_rows_and_columns_that_they_span(drawing: Drawing, tmp_path: Path) -> None:
    drawing.cell((0, 0, 2, 1), "Ship", bold=True)
    drawing.cell((0, 1, 1, 2), "Holds", bold=True)
    drawing.cell((1, 1, 1, 1), "Cars", bold=True)
    drawing.cell((1, 2, 1, 1), "People", bold=True)
    drawing.cell((2, 0, 2, 1), "Aurora")
    for row, column, text in ((2, 1, "40"), (2, 2, "300"), (3, 1, "12"), (3, 2, "90")):
        drawing.cell((row, column, 1, 1), text)
    assert tables(drawing.read(tmp_path)) == [
        ["| Ship | Holds Cars | Holds People |", "| Aurora | 40 | 300 |", "| Aurora | 12 | 90 |"]
    ]


def test_words_wrapped_in_their_cell_are_one_cell(drawing: Drawing, tmp_path: Path) -> None:
    drawing.rows([["Task", "Owner", "Place"]], bold_head=True)
    drawing.cell((1, 0, 2, 1), "Check the pumps of", "the eastern dock")
    drawing.cell((1, 1, 2, 1), "Ann Lee, of the", "harbour office")
    drawing.cell((1, 2, 2, 1), "Behind the old red", "customs house")
    assert tables(drawing.read(tmp_path)) == [
        [
            "| Task | Owner | Place |",
            "| Check the pumps of the eastern dock | Ann Lee, of the harbour office |"
            " Behind the old red customs house |",
        ]
    ]


def test_rows_that_no_line_parts_are_rows(drawing: Drawing, tmp_path: Path) -> None:
    drawing.rows([["Corpus", "Train", "Test"]], bold_head=True)
    drawing.cell((1, 0, 2, 1), "Europarl")
    drawing.cell((1, 1, 2, 1), "1M", "0.6M")
    drawing.cell((1, 2, 2, 1), "2,000", "1,000")
    assert tables(drawing.read(tmp_path)) == [
        ["| Corpus | Train | Test |", "| Europarl | 1M | 2,000 |", "| Europarl | 0.6M | 1,000 |"]
    ]


def test_names_and_their_values_have_no_head(drawing: Drawing, tmp_path: Path) -> None:
    drawing.rows([["Customer", "Harbour Office"], ["City", "Riga"], ["Country", "Latvia"]])
    assert tables(drawing.read(tmp_path)) == [
        ["|  |  |", "| Customer | Harbour Office |", "| City | Riga |", "| Country | Latvia |"]
    ]


def test_a_head_is_what_stands_on_another_ground(drawing: Drawing, tmp_path: Path) -> None:
    for column, text in enumerate(("Name", "City")):
        drawing.cell((0, column, 1, 1), text, fill=(0.8, 0.8, 0.9))
    drawing.rows([["Ann", "Riga"], ["Bo", "Porto"]], first=1)
    assert tables(drawing.read(tmp_path)) == [["| Name | City |", "| Ann | Riga |", "| Bo | Porto |"]]


def test_alternating_grounds_make_no_head(drawing: Drawing, tmp_path: Path) -> None:
    for row, texts in enumerate((("Ann", "Riga"), ("Bo", "Porto"), ("Cy", "Lyon"))):
        for column, text in enumerate(texts):
            drawing.cell((row, column, 1, 1), text, fill=(0.9, 0.9, 0.9) if row % 2 == 0 else None)
    assert tables(drawing.read(tmp_path)) == [
        ["|  |  |", "| Ann | Riga |", "| Bo | Porto |", "| Cy | Lyon |"]
    ]


def test_a_title_in_the_first_row_stands_above_the_table(drawing: Drawing, tmp_path: Path) -> None:
    drawing.cell((0, 0, 1, 2), "Ships of the lake", bold=True)
    drawing.rows([["Ship", "Cars"], ["Aurora", "40"], ["Borea", "25"]], first=1, bold_head=True)
    elements = drawing.read(tmp_path)
    assert [each.text for each in elements if each.kind is not Kind.TABLE] == ["Ships of the lake"]
    assert tables(elements) == [["| Ship | Cars |", "| Aurora | 40 |", "| Borea | 25 |"]]


def test_parts_with_a_little_room_between_are_one_table(drawing: Drawing, tmp_path: Path) -> None:
    drawing.rows([["Ship", "Cars", "People"], ["Aurora", "40", "300"]], bold_head=True)
    drawing.top += 10
    drawing.rows([["Borea", "25", "180"], ["Cassis", "10", "90"]], first=2)
    assert tables(drawing.read(tmp_path)) == [
        [
            "| Ship | Cars | People |",
            "| Aurora | 40 | 300 |",
            "| Borea | 25 | 180 |",
            "| Cassis | 10 | 90 |",
        ]
    ]


def test_text_around_stays_in_order_and_outside(drawing: Drawing, tmp_path: Path) -> None:
    drawing.write(LEFT, 60, "These are the ships of the lake.")
    drawing.rows([["Ship", "Cars"], ["Aurora", "40"]])
    drawing.write(LEFT, 190, "Nothing else swims there.")
    kinds = [each.kind for each in drawing.read(tmp_path)]
    assert kinds == [Kind.PARAGRAPH, Kind.TABLE, Kind.PARAGRAPH]


def test_a_grid_of_heads_alone_leaves_the_table_whole(drawing: Drawing, tmp_path: Path) -> None:
    drawing.rows([["", "Train", "Test"], ["", "tokens", "tokens"]])
    for row, texts in enumerate((("Alpha", "1,200", "300"), ("Beta", "1,800", "450"), ("Gamma", "90", "10"))):
        for column, text in enumerate(texts):
            drawing.write(LEFT + 4 + WIDTH * column, TOP + 2 * HEIGHT + 12 + 13 * row, text)
    [table] = tables(drawing.read(tmp_path))
    assert table[-3:] == ["| Alpha | 1,200 | 300 |", "| Beta | 1,800 | 450 |", "| Gamma | 90 | 10 |"]


def test_the_lines_of_a_chart_are_no_table(drawing: Drawing, tmp_path: Path) -> None:
    for row in range(4):
        for column in range(4):
            drawing.cell((row, column, 1, 1))
    for at, label in enumerate(("30", "20", "10")):
        drawing.write(LEFT - 20, TOP + 5 + at * HEIGHT, label)
    drawing.write(LEFT + WIDTH, TOP + HEIGHT + 13, "2021")
    assert tables(drawing.read(tmp_path)) == []


def test_figures_in_a_frame_are_part_of_another_table(drawing: Drawing, tmp_path: Path) -> None:
    for row, texts in enumerate((("Sales", "40", "65"), ("Costs", "12", "18"), ("Taxes", "3", "5"))):
        for column, text in enumerate(texts):
            drawing.write(LEFT + 4 + WIDTH * column, TOP + 13 + HEIGHT * row, text)
    for row in range(3):
        for column in (1, 2):
            drawing.cell((row, column, 1, 1))
    [table] = tables(drawing.read(tmp_path))
    assert table[-3:] == ["| Sales | 40 | 65 |", "| Costs | 12 | 18 |", "| Taxes | 3 | 5 |"]


def test_columns_of_running_text_in_frames_are_text(drawing: Drawing, tmp_path: Path) -> None:
    lines = [f"line {at} of a paragraph" for at in range(16)]
    for row in (0, 9):
        for column in (0, 1):
            drawing.cell((row, column, 9, 1), *lines)
    assert tables(drawing.read(tmp_path)) == []


def test_a_turned_page_is_read_as_it_is_seen(drawing: Drawing, tmp_path: Path) -> None:
    page = drawing.page
    for row, texts in enumerate((("Ship", "Cars"), ("Aurora", "40"), ("Borea", "25"))):
        for column, text in enumerate(texts):
            # What is seen from left to right on the turned page runs from the bottom to the top here.
            x, y = 100 + 20 * row, 500 - 90 * column
            page.draw_rect((x, y - 90, x + 20, y), width=0.5)
            page.insert_text((x + 13, y - 4), text, fontsize=9, rotate=90)
    page.set_rotation(90)
    assert tables(drawing.read(tmp_path)) == [["| Ship | Cars |", "| Aurora | 40 |", "| Borea | 25 |"]]


@pytest.mark.parametrize(("more", "is_table"), [(0, True), (MOST_LINES, False)])
def test_a_drawing_of_very_many_lines_is_left_alone(more: int, is_table: bool) -> None:
    words = (("Ship", 60, 110), ("Cars", 160, 110), ("Aurora", 60, 130), ("Forty", 160, 130))
    lines = [
        PdfLine(9, False, False, [(text, Box(x, y, x + 30, y + 9))], Box(x, y, x + 30, y + 9))
        for text, x, y in words
    ]
    rules = [Rule(y, 50, 250) for y in (105, 125, 145)]
    uprights = [Upright(x, 105, 145) for x in (50, 150, 250)]
    # Strokes of a drawing elsewhere on the page.
    strokes = [Rule(400 + at / 10, 300, 310) for at in range(more)]
    found = list(with_ruled_tables([lines], DrawnLines((*rules, *strokes), tuple(uprights))))
    assert [isinstance(part, Table) for part in found] == [is_table]
