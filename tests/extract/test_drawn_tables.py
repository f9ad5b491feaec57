"""A plain text draws tables with blanks: each is read as a table; what only looks like one stays text."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.locations import InFile
from extract.base import Kind
from extract.text import plain
from extract.text.drawn import DrawnRow, DrawnTable, tables_of
from extract.text.drawn.runs import MOST_ROWS
from tests.extract.reading import read_bytes, simply

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
    "bars that part nothing": "cat a | sort\ncat b | sort | uniq\ncat c | wc",
    "rules alone": "----   ----\n====   ====\n----   ----",
}


def only_table(text: str) -> DrawnTable:
    """The only table in a text."""
    (table,) = tables_of(text.split("\n"))
    return table


def rows_of(text: str) -> list[list[str]]:
    """The rows of the only table in a text, its head as the first."""
    table = only_table(text)
    return [list(row.cells) for row in ([table.head] if table.head else []) + [*table.rows]]


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
    table = only_table(
        "Room      Furniture\n----\nHall      carpet, mirror and\n          a chair\nKitchen   hob"
    )
    assert table.rows[0] == DrawnRow(["Hall", "carpet, mirror and a chair"], range(2, 4), is_below_rule=True)


def test_rows_that_go_on_in_several_cells() -> None:
    text = (
        "What you see          Why                  What to do\n\n"
        "Lower band is brown   old leaves, or no    buy fresh ones.  The\n"
        "                      ascorbate            market has some\n"
        "Clumps                pH under 7.4         check the meter"
    )
    assert rows_of(text)[1] == [
        "Lower band is brown",
        "old leaves, or no ascorbate",
        "buy fresh ones. The market has some",
    ]


def test_rows_of_two_lines_that_stand_apart() -> None:
    text = (
        "No.   Time          Monday       Tuesday\n_______________________________________\n\n"
        "1     07.50-08.35   German       Maths\n                    R 114        R 12\n\n"
        "2     08.40-09.25   English      Maths\n                    R 114        R 12\n\n"
        "      09.25-09.45   long break\n\n"
        "3     09.45-10.30   Music        Art\n                    R 2          R 7"
    )
    assert rows_of(text) == [
        ["No.", "Time", "Monday", "Tuesday"],
        ["1", "07.50-08.35", "German R 114", "Maths R 12"],
        ["2", "08.40-09.25", "English R 114", "Maths R 12"],
        ["", "09.25-09.45", "long break", ""],
        ["3", "09.45-10.30", "Music R 2", "Art R 7"],
    ]


def test_rows_below_a_row_are_no_part_of_it() -> None:
    rows = rows_of(
        "Cake     whole    38.00\n         slice     4.20\nRoll     each      1.70\nBun      each      1.90"
    )
    assert rows[:2] == [["Cake", "whole", "38.00"], ["", "slice", "4.20"]]


def test_columns_that_only_the_head_has_at_first() -> None:
    text = """\
Item                Count       Plus    Minus
---------------------------------------------
Gross
Salary             164.67   3,194.60
Extra pay           14.50      61.92
(8 and 9 March)
Deductions
Pension                                214.37
Tax                                    486.25"""
    assert rows_of(text) == [
        ["Item", "Count", "Plus", "Minus"],
        ["Gross", "", "", ""],
        ["Salary", "164.67", "3,194.60", ""],
        ["Extra pay (8 and 9 March)", "14.50", "61.92", ""],
        ["Deductions", "", "", ""],
        ["Pension", "", "", "214.37"],
        ["Tax", "", "", "486.25"],
    ]


@pytest.mark.parametrize("name", ["Sealing and\n  tiling", "Sealing\n(new tiles)"])
def test_names_of_rows_in_two_lines(name: str) -> None:
    first, second = name.split("\n")
    lines = [first, f"{second:14}96.00"] if first.endswith("and") else [f"{first:14}96.00", second]
    text = "\n".join(["Scaffold      18.00", *lines, "Fence         20.00"])
    assert rows_of(text)[1] == [f"{first} {second.strip()}", "96.00"]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Name      Owner\n---------------\nBoat      Elif\nShed      Tom", ["Name", "Owner"]),
        ("Name      Owner\n====  =====\nBoat      Elif\nShed      Tom", ["Name", "Owner"]),
        ("Name      Owner\n\nBoat      Elif\nShed      Tom", ["Name", "Owner"]),
        ("Name      Weight\nBoat          90\nShed         400", ["Name", "Weight"]),
        ("          2024   2023\nBoats        3      2\nSheds        1      1", ["", "2024", "2023"]),
        (
            "          free       bound\n          chlorine   chlorine\n"
            "Pool      0.42       0.08\nSlide     0.51       0.13",
            ["", "free chlorine", "bound chlorine"],
        ),
        ("Boat      Elif\nShed      Tom\nDesk      Ada", None),
        ("Boat      3 kg\nShed      4 kg\n---------------\nTotal     7 kg\nTax       1 kg", None),
    ],
    ids=["rule", "rule in parts", "empty line", "figures", "empty corner", "two lines", "none", "a total"],
)
def test_which_rows_name_the_columns(text: str, head: list[str] | None) -> None:
    found = only_table(text).head
    assert (list(found.cells) if found else None) == head


def test_sections_and_a_total_behind_an_empty_line() -> None:
    text = """\
              2024      2023
INCOME
  Fees ..... 14.00     13.00
  Rents ....  2.00

SPENDING
  Fuel .....  9.00      8.00

Rest .......  7.00      5.00"""
    assert rows_of(text) == [
        ["", "2024", "2023"],
        ["INCOME", "", ""],
        ["Fees", "14.00", "13.00"],
        ["Rents", "2.00", ""],
        ["SPENDING", "", ""],
        ["Fuel", "9.00", "8.00"],
        ["Rest", "7.00", "5.00"],
    ]


@pytest.mark.parametrize(
    "between",
    [
        "\n\nAll of this was paid in time.\n",
        "\n\nDogs      Owner\n",
        "\n\n\n\n\n",
        "\n",
    ],
    ids=["a sentence", "another head", "empty lines", "other columns"],
)
def test_two_tables_stay_two(between: str) -> None:
    first = "Boat      3 kg\nShed      4 kg\nDesk      5 kg"
    second = "Rex       3 years\nBello     4 years\nFido      5 years"
    if between == "\n":
        between, second = "\n\n", "Rex  dog  brown   3\nKim  cat  black   4\nTom  dog  white   5"
    assert len(list(tables_of(f"{first}{between}{second}".split("\n")))) == 2


def test_a_figure_behind_a_single_blank() -> None:
    text = "Gutter  Facilities      22 Nov\nBins    M. Lindqvist    29 Nov\nTalk    all shift leads 06 Dec"
    assert rows_of(text)[2] == ["Talk", "all shift leads", "06 Dec"]
    assert rows_of("Paint      1 248.00\nWood         310.00\nNails      2 005.00")[0] == [
        "Paint",
        "1 248.00",
    ]
    assert rows_of("Sodium     133 -  146\nUrea       2.5 -  7.8\nFolate     3.9 - 26.8")[0] == [
        "Sodium",
        "133 - 146",
    ]


def test_tabs_part_cells_wherever_they_stand() -> None:
    assert rows_of("Name\tPrice\nA very long name indeed\t3\nB\t4") == [
        ["Name", "Price"],
        ["A very long name indeed", "3"],
        ["B", "4"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "+----+------+\n| id | name |\n+----+------+\n|  1 | Elif |\n|  2 |      |\n|  3 | Tom  |\n",
        " id | name\n----+-------\n  1 | Elif\n  2 |\n  3 | Tom",
        "| id | name |\n|:--:|------|\n| 1 | Elif |\n| 2 | |\n| 3 | Tom |",
        "┏━━━━┳━━━━━━┓\n┃ id ┃ name ┃\n┡━━━━╇━━━━━━┩\n│ 1  │ Elif │\n│ 2  │      │\n│ 3  │ Tom  │",
    ],
    ids=["framed", "as psql does", "Markdown", "box drawing"],
)
def test_bars_part_cells(text: str) -> None:
    assert only_table(text).head is not None
    assert rows_of(text) == [["id", "name"], ["1", "Elif"], ["2", ""], ["3", "Tom"]]


def test_signs_that_take_two_columns() -> None:
    assert rows_of("品名　　　価格\nりんご　　120円\nみかん箱　900円") == [
        ["品名", "価格"],
        ["りんご", "120円"],
        ["みかん箱", "900円"],
    ]


def test_a_wide_blank_between_words() -> None:
    assert rows_of(
        "A-101   丸釘　五十ミリ    240\nA-102   丸釘　七十ミリ    180\nA-230   木ねじ            96"
    )[0] == [
        "A-101",
        "丸釘　五十ミリ",
        "240",
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


def test_the_sturdiest_reading_takes_lines_as_they_are(tmp_path: Path) -> None:
    kinds = {kind for kind, _ in read_bytes(tmp_path, DOSES, simply()).kinds()}
    assert kinds == {"paragraph"}


def test_behind_many_lines_all_is_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plain, "MOST_LINES", 5)
    found = read_bytes(tmp_path, DOSES)
    assert found.kinds()[0] == ("paragraph", "Medicines on leaving:")
    assert found.kinds()[-1] == ("paragraph", "Please see your doctor in two weeks.")
    assert "GTN spray 2 puffs if the chest hurts" in found.texts(Kind.PARAGRAPH)
