"""A plain text draws tables with blanks: each is read as a table; what only looks like one stays text."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.locations import InFile
from extract.base import Kind
from extract.text.aligned import MOST_ROWS, tables_of
from tests.extract.reading import read_bytes

DOSES = """\
Medicines on leaving:

  Drug            Dose       When
  Aspirin         75 mg      morning
  Ticagrelor      90 mg      morning, evening
  GTN spray       2 puffs    if the chest hurts

Please see your doctor in two weeks."""

NO_TABLES = {
    "two lines": "Apples    3\nPears     4",
    "sentences with two blanks between them": (
        "The board met twice.  It came to no result after hours of debate.\n"
        "Nobody wants to pay for the bridge.  So there will be none this year.\n"
        "The next meeting is in May.  All members are invited to come to it."
    ),
    "two columns of prose": (
        "The board met twice and came         Nobody wants to pay for the\n"
        "to no result after hours of          new bridge across the bay, and\n"
        "debate; the mayor was absent.        so there will be none this year."
    ),
    "a form": "Date:        14 March\nPlace:       Town hall\nChair:       Elif Kaya",
    "a list": "1.  Open the cover\n2.  Take out the filter\n3.  Close it again",
    "stations of a life": "2015 - 2019  Analyst\n2013 - 2015  Trainee\n2010 - 2013  Clerk",
    "a comment": "#   All rights reserved\n#   by the makers of\n#   this software",
    "a table with bars": "| a    | b |\n| c    | d |\n| e    | f |",
    "rules alone": "----   ----\n====   ====\n----   ----",
}


def rows_of(text: str) -> list[list[str]]:
    """The rows of the only table in a text."""
    (table,) = tables_of(text.split("\n"))
    return [list(row) for row in table.rows]


def test_a_table_between_paragraphs(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, DOSES)
    assert found.kinds() == [
        ("paragraph", "Medicines on leaving:"),
        (
            "table",
            "| Drug | Dose | When |\n| --- | --- | --- |\n| Aspirin | 75 mg | morning |\n"
            "| Ticagrelor | 90 mg | morning, evening |\n| GTN spray | 2 puffs | if the chest hurts |",
        ),
        ("paragraph", "Please see your doctor in two weeks."),
    ]
    assert found.place_of("90 mg") == InFile(lines=(5, 5))
    assert found.place_of("if the chest hurts") == InFile(lines=(6, 6))
    assert [unit.tables for unit in found.units] == [1]


def test_rows_without_a_head(tmp_path: Path) -> None:
    found = read_bytes(
        tmp_path, "Invoice no.      SR-77315\nCustomer         4471 0938\nTariff           Nature 12"
    )
    assert found.texts(Kind.TABLE) == [
        "|  |  |\n| --- | --- |\n| Invoice no. | SR-77315 |\n| Customer | 4471 0938 |\n| Tariff | Nature 12 |"
    ]


@pytest.mark.parametrize("text", NO_TABLES.values(), ids=NO_TABLES)
def test_what_is_no_table(text: str) -> None:
    assert list(tables_of(text.split("\n"))) == []


def test_figures_that_end_below_each_other() -> None:
    assert rows_of("Item                 Price\nBench, oak        1,850.00\nLamp                 20.00") == [
        ["Item", "Price"],
        ["Bench, oak", "1,850.00"],
        ["Lamp", "20.00"],
    ]


def test_blanks_within_a_column() -> None:
    assert rows_of("Dock lip      GBP 1,850\nRear guard    GBP   420\nStock         GBP   307")[1] == [
        "Rear guard",
        "GBP 420",
    ]


def test_empty_cells_and_a_cell_longer_than_its_column() -> None:
    assert rows_of(
        "Basic price    12 x 11.90    142.80\nUnits          40 x  3.10    124.00\n"
        "Sum                          266.80\nless what was paid before   -200.00\n"
        "Rest                          66.80"
    )[2:] == [["Sum", "", "266.80"], ["less what was paid before", "", "-200.00"], ["Rest", "", "66.80"]]


def test_lines_that_go_on_with_a_cell() -> None:
    text = "Room      Furniture\nHall      carpet, mirror and\n          a chair\nKitchen   hob"
    (table,) = tables_of(text.split("\n"))
    assert table.rows[1] == ["Hall", "carpet, mirror and a chair"]
    assert table.lines[1] == range(1, 3)


@pytest.mark.parametrize("rule", ["------------------", "=======  ========", "-------+---------"])
def test_a_rule_below_the_head(rule: str) -> None:
    (table,) = tables_of(f"Name      Owner\n{rule}\nBoat      Elif\n{rule}\nShed      Tom".split("\n"))
    assert table.has_head
    assert table.rows == [["Name", "Owner"], ["Boat", "Elif"], ["Shed", "Tom"]]


def test_tabs_part_cells_wherever_they_stand() -> None:
    assert rows_of("Name\tPrice\nA very long name indeed\t3\nB\t4") == [
        ["Name", "Price"],
        ["A very long name indeed", "3"],
        ["B", "4"],
    ]


def test_signs_that_take_two_columns() -> None:
    assert rows_of("品名　　　価格\nりんご　　120円\nみかん箱　900円") == [
        ["品名", "価格"],
        ["りんご", "120円"],
        ["みかん箱", "900円"],
    ]


def test_tables_in_an_email(tmp_path: Path) -> None:
    body = "\n".join(f"> {line}" for line in DOSES.split("\n"))
    found = read_bytes(
        tmp_path,
        "From: a@example.org\nTo: b@example.org\nSubject: Doses\n"
        f"Date: Mon, 3 Feb 2025 10:00:00 +0000\n\n{body}\n",
    )
    assert [text.split("\n")[-1] for text in found.texts(Kind.TABLE)] == [
        "| GTN spray | 2 puffs | if the chest hurts |"
    ]
    assert [unit.tables for unit in found.units] == [1]


def test_an_endless_table_is_cut() -> None:
    tables = list(tables_of([f"row {number:5}   {number:5}" for number in range(MOST_ROWS + 5)]))
    assert [len(table.rows) for table in tables] == [MOST_ROWS, 5]
