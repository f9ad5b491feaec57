"""Texts come in the order in which people read them, and paragraphs are whole."""

from __future__ import annotations

from extract.base import Element, Kind
from ingestion.structure.elements import structure_elements
from ingestion.structure.paragraphs import join_paragraphs
from ingestion.structure.reading_order import in_reading_order
from tests.ingestion.structure.lines_of_type import body, typed


def texts(elements: list[Element]) -> list[str]:
    return [element.text for element in elements]


def test_a_heading_that_is_drawn_last_comes_before_its_text() -> None:
    drawn = [
        typed("One two", y=100),
        typed("Three four", y=140),
        typed("Title", y=80),
        typed("Second", y=120),
    ]
    assert texts(in_reading_order(drawn)) == ["Title", "One two", "Second", "Three four"]


def test_marks_stay_with_the_text_after_which_they_are_drawn() -> None:
    drawn = [typed("One two", y=100), typed("(d)", y=96), typed("Three four", y=140), typed("®", y=80)]
    assert texts(in_reading_order(drawn)) == ["One two", "(d)", "Three four", "®"]


def test_columns_keep_their_order() -> None:
    left = [typed("Left first", y=100, x=50), typed("Left second", y=500, x=50)]
    right = [typed("Right first", y=100, x=320), typed("Right second", y=500, x=320)]
    assert in_reading_order([*left, *right]) == [*left, *right]


def test_a_page_with_too_many_elements_keeps_its_order() -> None:
    drawn = [typed("word", y=at) for at in range(900, 0, -2)]
    assert in_reading_order(drawn) == drawn


def test_a_sentence_that_the_end_of_a_page_parts_is_whole() -> None:
    above = (
        typed("The keepers wrote down the wind and", y=700),
        typed("the water every four hours, and", y=712),
    )
    (found,) = structure_elements([*above, typed("the oil that was left.", page=2)])
    assert found.text.endswith("wind and the water every four hours, and the oil that was left.")
    assert {box.page.number for box in found.located.boxes()} == {1, 2}


def test_what_ends_or_begins_is_not_joined() -> None:
    ended = typed("The keepers wrote down the wind.", y=100), typed("and so on", y=112)
    begun = typed("The keepers wrote down the wind", y=100), typed("The water rose", y=112)
    other = typed("The keepers wrote down the wind", y=100), typed("and the water", y=112, size=14)
    far = typed("The keepers wrote down the wind", y=100), typed("and the water", y=300)
    assert all(len(join_paragraphs(pair)) == 2 for pair in (ended, begun, other, far))


def test_a_word_that_the_end_of_a_column_parts_is_found_whole() -> None:
    column = [
        typed("The keepers of the tower wrote and", y=600, x=50),
        typed("all of them, whenever they re-", y=612, x=50),
    ]
    (found,) = structure_elements([*column, typed("presented it to all who asked", y=100, x=330)])
    assert "whenever they represented it to all" in found.text


def test_running_heads_that_name_their_section_are_no_headings() -> None:
    pages = []
    for page in range(1, 41):
        name = ("Lamps", "Oil", "Ships and signals", "Weather")[page // 2 % 4] + f" of year {page // 8}"
        pages += [typed(name, y=40, page=page, size=12, bold=True), *body(page)]
    found = structure_elements(pages)
    assert {element.kind for element in found if "of year" in element.text} == {Kind.PAGE_HEADER}


def test_a_heading_with_another_number_on_each_page_is_no_running_head() -> None:
    pages = [
        each
        for page in range(1, 13)
        for each in (typed(f"Version 4.{page * 3}.1", y=40, page=page, size=14, bold=True), *body(page))
    ]
    found = structure_elements(pages)
    assert sum(element.kind is Kind.HEADING for element in found) == 12
