"""Headings are found by their type, by numbers that the document counts, and by what stands below."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest
from pytest import Subtests

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Kind
from ingestion.structure.elements import structure_elements
from tests.ingestion.structure.lines_of_type import BODY, body, headings, section, typed


def titles(*sections: list[Element]) -> list[str]:
    return [text for _, text in headings(*chain(*sections))]


# --- Numbers -----------------------------------------------------------------------------------------------

COUNTED = {
    "capitals": ({}, ["1 INTRODUCTION", "2 RELATED WORK", "2.1 TOWERS", "3 REFERENCES"]),
    "roman": ({}, ["I. INTRODUCTION", "II. THE TOWER", "III. THE LAMP"]),
    "italics": ({"italic": True}, ["A. Dataset extraction", "B. Generated data", "C. Tests"]),
    "bold": ({"bold": True}, ["1. Basis of presentation", "2. Restructuring.", "3. Debt"]),
    "named": ({"bold": True}, ["Item 1. Business.", "Item 1A. Risk factors", "Note 3 – Leases"]),
    "lettered": ({"bold": True}, ["A.1 First proof", "A.2 Second proof"]),
    "plain": ({}, ["3.1 Scope", "3.2 Terms", "3.3 Notices"]),
}


def test_numbered_headings(subtests: Subtests) -> None:
    for name, (look, expected) in COUNTED.items():
        with subtests.test(name):
            assert titles(*(section(title, **look) for title in expected)) == expected


def test_a_number_in_a_line_of_its_own() -> None:
    """Readers take “1” and “INTRODUCTION” for two lines, and a lone “1” is higher than wide."""

    def numbered(number: str, title: str) -> Element:
        page = Page(1, 595, 842)
        words = [
            (number, OnPage(page, 0, Box(72, 120, 77, 132))),
            (title, OnPage(page, 1, Box(90, 120, 180, 132))),
        ]
        return Element(Kind.PARAGRAPH, LocatedText.of_words(words), font_size=12)

    found = headings(numbered("1", "INTRODUCTION"), *body(), numbered("2", "METHODS"))
    assert [text for _, text in found] == ["1 INTRODUCTION", "2 METHODS"]


def test_numbered_items_of_a_list_are_none() -> None:
    items = "1. Flour and water", "2. Salt", "3. Time"
    assert titles(*([typed(item)] for item in items)) == []


def test_long_named_headings() -> None:
    title = (
        "Item 5. Market for the registrant’s common equity, related stockholder matters and issuer "
        "purchases of equity securities during the last three fiscal years of the company"
    )
    assert titles(section(title, bold=True)) == [title]


# --- Type --------------------------------------------------------------------------------------------------


def test_a_page_in_small_type_has_its_own_measure() -> None:
    """Exhibits set larger than the report hid all of its headings."""
    report = [typed("Our towers", size=8, bold=True), *body(size=8)]
    exhibit = list(chain(*(body(page, size=12) for page in range(2, 9))))
    found = structure_elements([*report, *exhibit])
    assert [element.text for element in found if element.kind is Kind.HEADING] == ["Our towers"]


def test_left_of_indented_paragraphs() -> None:
    elements = [typed("Opportunity", bold=True, x=50), *body(x=76)]
    assert structure_elements(elements)[0].kind is Kind.HEADING


@pytest.mark.parametrize("look", [{"italic": True}, {}])
def test_titles_that_are_only_slanted_or_in_capitals(look: dict[str, bool]) -> None:
    words = ["The tower", "The lamp"] if look else ["THE TOWER", "THE LAMP"]
    assert titles(*(section(title, **look) for title in words)) == words
    # One alone may be a stressed line.
    assert titles(section(words[0], **look)) == []


def test_lines_of_one_centred_title_are_joined() -> None:
    upper, lower = "Datasets and Baselines for Armenian", "Named Entities"
    found = headings(
        typed(upper, y=80, size=20, x=297.5 - (10 * 31 + 12) / 2),
        typed(lower, y=104, size=20, x=297.5 - (10 * 13 + 3) / 2),
        typed("Abstract", y=150, size=12, x=297.5 - 24),
    )
    assert found == [(1, f"{upper} {lower}"), (2, "Abstract")]


def test_headings_one_below_the_other_stay_apart() -> None:
    stacked = [typed("Revenue", y=120, bold=True), typed("Revenue by segment", y=135, bold=True)]
    assert [text for _, text in headings(*stacked)] == ["Revenue", "Revenue by segment"]


# --- What is none ------------------------------------------------------------------------------------------

NONE = {
    "a caption": typed("Figure 3: The lamp at night", bold=True),
    "a caption with a roman number": typed("TABLE II: Lamps and their keepers"),
    "authors": typed("Baijun Ji‡, Zhirui Zhang§, Min Zhang†", bold=True, size=12),
    "a sentence": typed("This bold statement ends like a sentence.", bold=True),
    "figures": typed("2022 2021", size=18),
    "a mail address": typed("Write to keeper@example.org", size=12),
    "a place": typed("Portland, ME 04101", bold=True),
    "a month": typed("October 2022", size=12),
    "a line of a program": typed("2273 \\newcommand\\lamp{", size=12),
    "an entry of contents": typed("3.1 The lamp . . . . . . 29"),
    "a line that ends within a word": typed("Keeper A (2017). The Lamps of the Foun-", italic=True),
    "an entry of an index": typed("LAMP, 7, 44–46", size=12),
    "a formula": typed("1 a1|x 1 a1 = x⊤(δ − α), a1 ∈ [0, 1]m", size=12),
    "a label in a drawing": typed("Lantern", size=11.5, x=400),
}


def test_what_looks_like_a_heading_and_is_none(subtests: Subtests) -> None:
    for name, element in NONE.items():
        with subtests.test(name):
            assert headings(element) == []


def test_the_head_of_a_letter_is_none() -> None:
    lines = [typed("The Lighthouse Board", size=14, y=60), typed("Portland, ME 04101", bold=True, y=80)]
    assert [text for _, text in headings(*lines, typed("Annual report", size=18, y=110))] == ["Annual report"]


def test_the_title_of_a_plot_is_none() -> None:
    lines = [
        typed("Oil and wicks", bold=True, y=60),
        typed("−10 0 10 20", y=80),
        *section("Towers", bold=True),
    ]
    assert [text for _, text in headings(*lines)] == ["Towers"]


def test_the_title_of_a_plot_in_small_letters_is_none() -> None:
    title = typed("Lamps of the coast", size=22, y=60)
    plot = [*body(1), typed("lamps and wicks", size=18, page=2, y=60), typed("1890 1900", page=2, y=90)]
    assert titles([title, *plot], section("Towers", bold=True)) == ["Lamps of the coast", "Towers"]


def middle(text: str, y: float, size: float = 12) -> Element:
    """Return a line in the middle of the page."""
    width = 0.5 * size * sum(map(len, text.split())) + 3 * (len(text.split()) - 1)
    return typed(text, y=y, size=size, x=(595 - width) / 2)


def test_what_stands_below_the_title_of_a_paper_are_no_headings() -> None:
    title = [middle("On the keeping of lamps", 60, 18), middle("Ada Keeper", 85)]
    dated = [*title, middle("University of the Sea", 100), typed("1 Towers", size=14, y=130)]
    assert [text for _, text in headings(*dated)] == ["On the keeping of lamps", "1 Towers"]
    revised = [*title, middle("6 October 2006; revised in May", 100), typed("1 Towers", size=14, y=130)]
    assert [text for _, text in headings(*revised)] == ["On the keeping of lamps", "1 Towers"]
    undated = [*title, typed("1 Towers", size=14, y=130)]
    assert "Ada Keeper" in [text for _, text in headings(*undated)]


def test_sections_below_a_title_in_the_middle_are_headings() -> None:
    title = middle("The Board on its lamps", 60, 18)
    assert [text for _, text in headings(title, middle("Highlights of 2024", 100))] == [
        "The Board on its lamps",
        "Highlights of 2024",
    ]
    dated = [title, middle("Gull Island, 3 May 2024", 80), middle("What the keepers found", 100)]
    assert [text for _, text in headings(*dated)] == ["The Board on its lamps", "What the keepers found"]


def test_words_in_a_drawing_are_none() -> None:
    drawn = [
        typed("Lantern", size=20, x=150, y=60),
        typed("lens", size=10, x=220, y=90),
        typed("Figure 3: The top of the tower", x=180, y=110),
    ]
    assert titles(drawn, section("The tower", size=14)) == ["The tower"]
    # A heading stands where texts begin, with its figure below.
    assert titles([typed("Lantern", size=20, y=60), *drawn[1:]]) == ["Lantern"]


def test_lists_of_figures_have_no_headings() -> None:
    lamps = [typed(f"3.{n} Lamp of {50 + n} . . . . . . {20 + n}", page=2, y=60 + 14 * n) for n in range(8)]
    listing = [*lamps, typed("3.9 The lamp of the sea. 31", page=2, bold=True, y=180)]
    chapter = typed("Chapter 4 Towers 40", page=2, size=14, y=200)
    assert titles([*body(), *listing, chapter]) == []


def test_words_of_programs_are_none() -> None:
    program = [typed("else", bold=True, y=60), typed("stop(lamp);", y=80)]
    assert titles(program, section("The tower", size=14)) == ["The tower"]


def test_a_sentence_that_goes_on_over_the_page_is_none() -> None:
    first = [*body(), typed("Sometimes, in the list of lamps, the same is shown with the", bold=True, y=620)]
    second = [typed("same number. " + BODY, page=2, y=60), *body(2)]
    whole = [each.text for each in structure_elements([*first, *second]) if each.kind is Kind.HEADING]
    assert whole == []
    alone = structure_elements([*first, *body(2)])
    assert any(each.text.startswith("Sometimes") for each in alone if each.kind is Kind.HEADING)


def test_cells_of_a_table_of_words() -> None:
    row = [typed("Product", bold=True, x=72), typed("Global revenue", bold=True, x=200)]
    assert headings(*row) == []
    approved = [typed("Approved", bold=True, y=y) for y in (20, 60, 100)]
    assert headings(*approved) == []


def test_a_stamp_along_the_margin() -> None:
    page = Page(1, 595, 842)
    stamp = LocatedText.of_words([("arXiv:1705.07830v3", OnPage(page, 0, Box(11, 200, 31, 500)))])
    assert headings(Element(Kind.PARAGRAPH, stamp, font_size=20)) == []


# --- Levels ------------------------------------------------------------------------------------------------


def levels(*sections: list[Element]) -> list[int | None]:
    return [level for level, _ in headings(*chain(*sections))]


def test_numbers_decide_the_level_of_numbered_headings() -> None:
    numbered = "1 ONE", "1.1 INNER", "1.1.1 INNERMOST", "1.2 INNER", "2 TWO", "2.1 INNER"
    assert levels([typed("The title", size=18)], *map(section, numbered)) == [1, 2, 3, 4, 3, 2, 3]


def test_letters_stand_below_roman_numbers() -> None:
    numbered = "I. FIRST", "A. INNER", "B. INNER", "II. SECOND", "A. INNER", "B. INNER"
    assert levels(*map(section, numbered)) == [1, 2, 2, 1, 2, 2]


def test_parts_hold_items_and_items_hold_notes() -> None:
    titles = (
        "PART I",
        "ITEM 1. BUSINESS",
        "OVERVIEW",
        "Digital media",
        "ITEM 8. STATEMENTS",
        "NOTE 1. BASIS",
        "PART II",
    )
    assert levels(*(section(title, bold=True) for title in titles)) == [1, 2, 3, 4, 2, 3, 1]


def test_what_follows_the_last_number_is_its_equal() -> None:
    named = "1 ONE", "2 TWO", "REFERENCES"
    assert levels(*(section(title, bold=True) for title in named)) == [1, 1, 1]


def test_levels_that_the_file_states_count_for_headings_that_look_alike() -> None:
    stated = replace(typed("Named by the outline", bold=True), kind=Kind.HEADING, level=3)
    found = headings(typed("Title", size=18), stated, typed("Not in the outline", y=150, bold=True))
    assert found == [(1, "Title"), (3, "Named by the outline"), (3, "Not in the outline")]


def test_a_section_never_holds_one_of_its_own_rank() -> None:
    found = headings(typed(BODY), *section("First", size=14), *section("Second", size=14))
    assert found == [(1, "First"), (1, "Second")]


def test_sentences_in_bold_type_head_sections_if_there_are_several() -> None:
    risks = [
        f"{name} could harm our business and the keepers of our lamps." for name in ("Storms", "Rust", "Fog")
    ]
    found = headings(*chain.from_iterable(section(risk, bold=True) for risk in risks))
    assert [text for _, text in found] == risks
    assert headings(*section(risks[0], bold=True)) == []


def test_terms_that_are_explained_are_no_headings() -> None:
    terms = [
        each
        for at, name in enumerate(("start", "stop", "restart", "reload"))
        for each in (
            typed(name, y=620 + 40 * at, bold=True),
            typed(f"{name} the service, as the operator asks", y=640 + 40 * at, x=97),
        )
    ]
    found = structure_elements([*body(), *terms])
    assert [element.text for element in found if element.kind is Kind.HEADING] == []


def test_headings_may_hang_left_of_all_text() -> None:
    found = structure_elements([typed("Lamps", x=36, y=180, bold=True), *body()])
    assert [element.text for element in found if element.kind is Kind.HEADING] == ["Lamps"]


def test_a_heading_is_as_far_indented_as_the_first_line_below() -> None:
    first, rest = typed(BODY, y=140, x=90), typed(BODY, y=152, x=72)
    below = replace(first, located=LocatedText.join((first.located, rest.located), " "))
    titles = [typed("Lamps", x=82, bold=True), below, *section("Oil", bold=True)]
    assert "Lamps" in [text for _, text in headings(*titles)]


def test_a_number_alone_takes_the_title_below_it() -> None:
    assert headings(typed("Chapter 3", size=14), typed("The lamps", size=18, y=160)) == [
        (1, "Chapter 3 The lamps")
    ]
    assert [
        text for _, text in headings(typed("PART II", size=14), typed("Item 5. Oil", size=14, y=160))
    ] == [
        "PART II",
        "Item 5. Oil",
    ]


def test_lower_letters_are_counted() -> None:
    found = headings(*section("a. Lamps", bold=True, italic=True), *section("b. Oil", bold=True, italic=True))
    assert found == [(1, "a. Lamps"), (1, "b. Oil")]


def test_appendices_are_counted_by_bare_letters() -> None:
    titles = "1 Introduction", "2 Lamps", "A Further Lamps", "B Further Oil"
    assert levels(*(section(title, size=12) for title in titles)) == [1, 1, 1, 1]


def test_dates_advice_and_remarks_are_no_headings() -> None:
    for text in ("17 December 2022", "Warning", "(in millions)", "viii", "• lamps"):
        assert headings(typed(text, size=16)) == []


def test_a_bold_line_above_a_table_is_its_title() -> None:
    sheet = Element(Kind.TABLE, typed("| Oil | 3 |", y=120).located, rows=((0, 11),))
    title = typed("Statements of Oil Burnt", y=90, size=9, bold=True)
    assert headings(title, sheet) == [(1, "Statements of Oil Burnt")]
    assert headings(typed("Oil", y=121, size=9, bold=True), sheet) == []


def test_recognised_pages_have_short_lines_above_paragraphs_as_headings() -> None:
    page = [
        typed("Restricted oil", y=100, size=9.4),
        *_paragraph(120),
        typed("Lamps", y=200, size=11),
        *_paragraph(220),
    ]
    found = structure_elements(
        [*page, typed("generates more", y=300, size=13), *_paragraph(320)], frozenset({1})
    )
    assert [(each.level, each.text) for each in found if each.kind is Kind.HEADING] == [
        (1, "Restricted oil"),
        (1, "Lamps"),
    ]


def _paragraph(y: float) -> list[Element]:
    lines = [typed(BODY, y=y + 12 * at).located for at in range(3)]
    return [replace(typed(BODY), located=LocatedText.join(lines, " "))]


# --- Lines of one title, and contents ----------------------------------------------------------------------


@pytest.mark.parametrize("first", ["On the keeping of lamps:", "On the keeping of lamps, wicks,"])
def test_a_title_of_two_lines_is_one_whatever_ends_the_first(first: str) -> None:
    lines = [typed(first, size=16, y=100), typed("origins and directions", size=16, y=118)]
    assert titles(lines) == [f"{first} origins and directions"]


def test_the_second_line_of_a_numbered_title_hangs() -> None:
    lines = [typed("1 The keeping of", size=14, y=100), typed("lamps", size=14, y=117, x=82)]
    others = section("2 Towers", size=14)
    assert titles(lines, [typed(BODY, y=140)], others) == ["1 The keeping of lamps", "2 Towers"]


def test_a_numbered_title_may_be_justified_and_end_in_a_figure() -> None:
    """The reader cuts a line at wide gaps, and the words of a justified title are as far apart."""
    wide, x = [], 72.0
    for number, word in enumerate(["1", "The", "lamp", "of", "1812"]):
        place = OnPage(Page(1, 595, 842), number, Box(x, 100, x + 7 * len(word), 114))
        wide.append((word, place))
        x += 7 * len(word) + 16
    title = replace(typed("-", size=14), located=LocatedText.of_words(wide))
    assert titles([title, typed(BODY, y=140)], section("2 Towers", size=14)) == [
        "1 The lamp of 1812",
        "2 Towers",
    ]


def test_chapter_and_its_number_in_words_stand_above_the_title() -> None:
    lines = [
        typed("CHAPTER", bold=True, x=491, y=92),
        typed("ELEVEN", size=14.5, bold=True, x=482, y=112),
        typed("THE LAMP", size=14.5, bold=True, x=470, y=140),
        typed(BODY, y=200),
    ]
    assert titles(lines) == ["CHAPTER ELEVEN THE LAMP"]


def test_a_paragraph_that_leads_to_a_heading_is_no_part_of_it() -> None:
    lines = [typed("Dear keeper,", y=100), typed("The lamp", size=16, y=118)]
    assert titles(lines) == ["The lamp"]


def test_entries_of_contents_are_none() -> None:
    contents = [typed("Contents", size=16, y=80), typed("Part I: The tower", bold=True, y=120)]
    found = structure_elements(
        [*contents, *body(), typed("PART I. THE TOWER", bold=True, y=120, page=2), *body(page=2)]
    )
    headings_of_all = [(each.located.page_number(), each.text) for each in found if each.kind is Kind.HEADING]
    assert headings_of_all == [(1, "Contents"), (2, "PART I. THE TOWER")]
