"""Headings, lists and running heads are told apart by how they are set."""

from __future__ import annotations

from core.locations import LocatedText
from extract.base import Element, Kind
from ingestion.structure.elements import structure_elements
from tests.ingestion.structure.lines_of_type import BODY, body, typed


def kinds(*elements: Element) -> list[tuple[Kind, int | None]]:
    """Return the kind and level of `elements`, which stand before pages of running text."""
    return [(e.kind, e.level) for e in structure_elements([*elements, *body()])[: len(elements)]]


def test_larger_type_and_bold_lines_are_headings_by_rank() -> None:
    found = kinds(
        typed("The Tower", y=120, size=18, bold=True),
        typed("ITS STONES", y=140, bold=True),
        typed("Granite blocks", y=160, bold=True),
    )
    assert found == [(Kind.HEADING, 1), (Kind.HEADING, 2), (Kind.HEADING, 3)]


def test_what_only_looks_like_a_heading_is_none() -> None:
    found = kinds(
        typed("2022 2021", y=120, size=18),
        typed("Year ended", y=140, bold=True, x=301),
        typed("This bold statement ends like a sentence.", y=160, bold=True),
        typed("quiet words", y=180),
    )
    assert found == [(Kind.PARAGRAPH, None)] * 4


def test_a_centred_bold_line_is_a_heading() -> None:
    assert kinds(typed("SEGMENTS", y=120, bold=True, x=277.5)) == [(Kind.HEADING, 1)]


def test_list_items() -> None:
    items = [typed(text, y=120) for text in ("• bread", "1. flour", "(a) salt", "-5 degrees")]
    assert [kind for kind, _ in kinds(*items)] == [Kind.LIST_ITEM] * 3 + [Kind.PARAGRAPH]


def test_lines_at_the_same_place_of_many_pages_are_running_heads_and_feet() -> None:
    pages = [
        [typed("Annual report", y=30, page=n), *body(n), typed(f"Page {n} of 9", y=810, page=n)]
        for n in range(1, 6)
    ]
    found = structure_elements([element for page in pages for element in page])
    assert [e.text for e in found if e.kind is Kind.PAGE_HEADER] == ["Annual report"] * 5
    assert [e.text for e in found if e.kind is Kind.PAGE_FOOTER] == [f"Page {n} of 9" for n in range(1, 6)]


def test_running_heads_of_chapters_stand_where_nothing_stands_above_them() -> None:
    """They name the chapter on one side and the section on the other, and are numbered as headings are."""
    heads = {1: ("Chapter 1. Lamps", "1.1 Wicks"), 2: ("Chapter 2. Towers", "2.1 Stairs")}
    pages = [
        [typed(heads[1 + n // 4][n % 2], y=100, page=n + 1, italic=True), *body(n + 1)] for n in range(8)
    ]
    found = structure_elements([element for page in pages for element in page])
    assert len([each for each in found if each.kind is Kind.PAGE_HEADER]) == 8


def test_paragraphs_at_the_top_of_many_pages_stay() -> None:
    pages = [[typed(f"{BODY} {BODY}", y=100, page=n), typed("The end.", y=300, page=n)] for n in range(1, 6)]
    found = structure_elements([element for page in pages for element in page])
    assert {each.kind for each in found if each.text.startswith(BODY)} == {Kind.PARAGRAPH}


def test_lines_that_count_pages_wherever_they_stand() -> None:
    """The last line of a page that holds little stands far from the margin."""
    pages = [
        [typed("Towers of the coast", y=100, page=n), typed(f"Form 10-K {n - 2}", y=450 + 30 * n, page=n)]
        for n in range(3, 8)
    ]
    found = structure_elements([element for page in pages for element in page])
    assert [e.text for e in found if e.kind is Kind.PAGE_FOOTER] == [f"Form 10-K {n}" for n in range(1, 6)]
    years = [typed(f"In {2000 + n} nothing happened", y=400, page=n) for n in (3, 5, 6)]
    assert not [e for e in structure_elements(years) if e.kind is Kind.PAGE_FOOTER]


def test_lines_that_come_back_in_the_middle_of_pages_stay() -> None:
    found = structure_elements([element for n in range(1, 6) for element in body(n)])
    assert {element.kind for element in found} == {Kind.PARAGRAPH}


def test_headings_that_the_file_itself_names_keep_their_level() -> None:
    named = Element(Kind.HEADING, LocatedText("Named"), level=4)
    assert structure_elements([named]) == [named]
