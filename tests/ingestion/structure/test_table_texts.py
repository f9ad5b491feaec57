"""Captions and footnotes become part of their tables."""

from __future__ import annotations

from itertools import count

import pytest

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Kind
from extract.tables import table_element
from ingestion.structure.elements import structure_elements
from tests.ingestion.structure.lines_of_type import body, typed

ROWS = [["", "2023", "2022"], ["Lamp oil (1)", "70", "80"], ["Wicks *", "(1)", "9"]]


def table(y: float = 140, page: int = 1, rows: list[list[str]] | None = None) -> Element:
    """Return a table whose rows are 12 points high and whose columns are 150 points wide."""
    lines = count(1000)
    return table_element(
        [
            [
                LocatedText.of_words(
                    (
                        word,
                        OnPage(Page(page, 595, 842), number, Box(72 + 150 * x, top, 180 + 150 * x, top + 10)),
                    )
                    for number in [next(lines)]
                    for word in cell.split()
                )
                for x, cell in enumerate(row)
            ]
            for top, row in zip(count(int(y), 12), rows or ROWS, strict=False)
        ]
    )


def texts_of(*elements: Element) -> list[tuple[str | None, list[str]]]:
    """Return caption and footnotes of each table, among running text."""
    found = structure_elements([*elements, *body(page=9)])
    return [
        (each.caption.text if each.caption else None, [note.text for note in each.notes])
        for each in found
        if each.kind is Kind.TABLE
    ]


@pytest.mark.parametrize(
    "caption",
    [
        "Table 3: What the lamps burn.",
        "TABLE II",
        "Table A.1 Oil of each lamp",
        "Tab. 4 – Oil",
        "Tabelle 3: Verbrauch der Lampen",
        "Tableau 2 : Consommation",
        "表1 灯台",
    ],
)
def test_a_caption_above_or_below_belongs_to_the_table(caption: str) -> None:
    assert texts_of(typed(caption, y=120), table()) == [(caption, [])]
    assert texts_of(table(), typed(caption, y=185)) == [(caption, [])]


@pytest.mark.parametrize(
    "text", ["Table 3 shows what the lamps burn.", "Tables 3 and 4 follow.", "Figure 3: The lamps", "Tablets"]
)
def test_other_texts_are_no_captions(text: str) -> None:
    found = structure_elements([typed(text, y=120), table(), *body(page=9)])
    assert [each.caption for each in found if each.kind is Kind.TABLE] == [None]
    assert any(each.text == text for each in found)


def test_a_caption_far_away_or_on_another_page_stays() -> None:
    assert texts_of(typed("Table 3: Oil", y=60), table()) == [(None, [])]
    assert texts_of(typed("Table 3: Oil", y=120), table(page=2)) == [(None, [])]


def test_a_title_or_a_unit_may_stand_between() -> None:
    assert texts_of(typed("TABLE II", y=106), typed("Oil of the lamps", y=120), table()) == [
        ("TABLE II Oil of the lamps", [])
    ]


def test_a_caption_between_two_tables_goes_where_the_others_are() -> None:
    below = [table(), typed("Table 1: Oil", y=185), table(205), typed("Table 2: Wicks", y=250)]
    assert [caption for caption, _ in texts_of(*below)] == ["Table 1: Oil", "Table 2: Wicks"]
    above = [typed("Table 1: Oil", y=120), table(), typed("Table 2: Wicks", y=185), table(205)]
    assert [caption for caption, _ in texts_of(*above)] == ["Table 1: Oil", "Table 2: Wicks"]


def test_footnotes_whose_marks_cells_have_belong_to_the_table() -> None:
    notes = ["(1) Without what was spilled.", "* Counted by hand.", "Source: the keeper's book."]
    lines = [typed(note, y=185 + 12 * at) for at, note in enumerate(notes)]
    assert texts_of(table(), *lines, typed("Then came the winter.", y=230)) == [(None, notes)]


def test_footnotes_go_on_at_the_top_of_the_next_page() -> None:
    rows = [["", "2023"], ["Lamp oil (1)", "70"], ["Wicks (2)", "9"]]
    notes = ["(1) Without what was spilled.", "(2) Counted by hand."]
    lines = [typed(notes[0], y=745), typed(notes[1], y=40, page=2)]
    found = texts_of(table(700, rows=rows), *lines, typed("Then came the winter.", y=60, page=2))
    assert found == [(None, notes)]
    assert texts_of(
        table(700, rows=rows), typed(notes[0], y=745), typed("Source: a book.", y=40, page=2)
    ) == [(None, notes[:1])]


@pytest.mark.parametrize("text", ["(2) No cell has this mark.", "† Nor this.", "Then came the winter."])
def test_what_no_cell_refers_to_is_no_footnote(text: str) -> None:
    assert texts_of(table(), typed(text, y=185)) == [(None, [])]


def test_a_figure_in_brackets_is_no_mark() -> None:
    rows = [["", "2023"], ["Loss", "(1)"], ["Gain", "3"]]
    assert texts_of(table(rows=rows), typed("(1) The first of several points.", y=185)) == [(None, [])]


def test_a_bare_number_is_a_mark_in_small_type_only() -> None:
    rows = [["", "2023"], ["Lamp oil 1", "70"], ["Wicks", "9"]]
    note = "1 Without what was spilled."
    assert texts_of(table(rows=rows), typed(note, y=185, size=7)) == [(None, [note])]
    assert texts_of(table(rows=rows), typed(note, y=185)) == [(None, [])]
