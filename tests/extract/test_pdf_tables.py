"""Tables of a PDF page from the places of words: what is one, and which head stands above which column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.locations import Box
from extract.pdf.lines import PdfLine, enclosing_box
from extract.pdf.rules import Rule
from extract.pdf.tables import Table, with_tables

SIZE = 10
LETTER = 5


def line(text: str, x: float, y: float, bold: bool = False) -> PdfLine:
    """Return a line of type at a place; a letter is 5 points wide."""
    words, at = [], x
    for word in text.split():
        words.append((word, Box(at, y, at + LETTER * len(word), y + SIZE)))
        at += LETTER * (len(word) + 1)
    return PdfLine(SIZE, bold, False, words, enclosing_box([box for _, box in words]))


def centred(text: str, middle: float, y: float) -> PdfLine:
    return line(text, middle - LETTER * len(text) / 2, y)


def row(label: str, y: float, *figures: str, ends: tuple[float, ...] = (345, 445)) -> list[PdfLine]:
    """Return a label and its figures, which end at these places."""
    cells = [line(figure, end - LETTER * len(figure), y) for figure, end in zip(figures, ends, strict=False)]
    return [line(label or "-", 50, y), *cells]


def read(*blocks: list[PdfLine], rules: Sequence[Rule] = ()) -> list[Any]:
    """Return the tables as rows of cells, and other blocks as text."""
    return [
        [[" ".join(each.text for each in cell) for cell in cells] for cells in block.grid]
        if isinstance(block, Table)
        else " ".join(each.text for each in block)
        for block in with_tables(blocks, rules)
    ]


BODY = [*row("Revenue", 140, "7,192", "8,288"), *row("Cost of sales", 152, "2,544", "2,857")]


def test_a_head_that_spans_columns_stands_above_each() -> None:
    head = [centred("Three months ended", 380, 100), line("April 30", 305, 112), line("May 1", 420, 112)]
    assert read([*head, *BODY]) == [
        [
            ["", "Three months ended April 30", "Three months ended May 1"],
            ["Revenue", "7,192", "8,288"],
            ["Cost of sales", "2,544", "2,857"],
        ]
    ]


def test_a_head_above_one_column_stays_there() -> None:
    head = [line("Note", 325, 112), line("Amount", 415, 112), line("(restated)", 395, 100)]
    [[first, *_]] = read([*head, *BODY])
    assert first == ["", "Note", "(restated) Amount"]


def test_the_last_name_may_go_on_far_beyond_the_figures_below_it() -> None:
    """Figures that begin at the left of their column, as in many papers, end long before its name does."""
    head = [line("Site", 50, 124), line("Enrolled", 300, 124), line("Sessions that each attended", 400, 124)]
    body = [
        *[line("Millgate", 50, 140), line("46", 300, 140), line("31", 400, 140)],
        *[line("Northfield", 50, 152), line("38", 300, 152), line("26", 400, 152)],
    ]
    [[first, *_]] = read([*head, *body])
    assert first == ["Site", "Enrolled", "Sessions that each attended"]


def test_lines_of_a_head_in_any_drawing_order() -> None:
    head = [line("2023", 325, 112), line("2022", 425, 112), centred("Fiscal year", 385, 100)]
    [[first, *_]] = read([*head, *BODY])
    assert first == ["", "Fiscal year 2023", "Fiscal year 2022"]


def test_the_day_of_a_date_may_stand_alone_on_its_line() -> None:
    days = [
        centred("January", 330, 88),
        centred("January", 430, 88),
        line("28,", 325, 100),
        line("29,", 425, 100),
    ]
    years = [line("2023", 322, 112), line("2022", 422, 112)]
    [[first, *_]] = read([*days, *years, *BODY])
    assert first == ["", "January 28, 2023", "January 29, 2022"]


def test_a_table_without_a_head_has_an_empty_one() -> None:
    """A row of figures as the head would be repeated above rows that it has nothing to do with."""
    [[first, second, _]] = read(BODY)
    assert first == ["", "", ""]
    assert second == ["Revenue", "7,192", "8,288"]


def test_a_heading_between_two_tables_belongs_to_neither() -> None:
    between = [line("Note 8. Goodwill", 50, 176, bold=True)]
    after = [*row("2023", 188, "1,200", "1,300"), *row("2024", 200, "2,200", "2,300")]
    found = read([*BODY], between, after)
    assert found[1] == "Note 8. Goodwill"
    assert [len(table) for table in (found[0], found[2])] == [3, 3]


def test_a_head_below_a_line_of_words_begins_another_table() -> None:
    between = [line("Goodwill by reportable segment was as follows:", 50, 164)]
    head = [line("Segment", 50, 176), line("2020", 325, 176), line("2021", 425, 176)]
    after = [*row("Media", 188, "2,868", "3,731"), *row("Experience", 200, "7,476", "8,539")]
    assert read([*BODY, *between, *head, *after])[1:] == [
        "Goodwill by reportable segment was as follows:",
        [
            ["Segment", "2020", "2021"],
            ["Media", "2,868", "3,731"],
            ["Experience", "7,476", "8,539"],
        ],
    ]


def test_a_label_with_a_colon_does_not_end_a_table() -> None:
    between = [line("Adjustments to reconcile net income to net cash:", 50, 164)]
    after = row("Depreciation", 176, "384", "334")
    [table] = read([*BODY, *between, *after])
    assert table[-1] == ["Depreciation", "384", "334"]


def test_dots_lead_from_a_label_to_its_figures() -> None:
    def dotted(label: str, y: float, *figures: str) -> list[PdfLine]:
        dots = " .".join([""] * (40 - len(label) // 2))
        return [line(f"{label}{dots} {'  '.join(figures)}", 50, y)]

    found = read(
        [*dotted("Cash", 140, "1,815"), *dotted("Inventories", 152, "253"), *dotted("Other", 164, "99")]
    )
    assert found == ["Cash 1,815 Inventories 253 Other 99"]


# --- Which columns a head spans ---------------------------------------------------------------------------

FOUR = (250, 330, 410, 490)
PERIODS = [centred("Three months ended", 280, 100), centred("Six months ended", 440, 100)]
DATES = [line(year, end - 20, 116) for year, end in zip(["2023", "2022", "2023", "2022"], FOUR, strict=True)]
FOUR_BODY = [
    *row("Revenue", 140, "1", "2", "3", "4", ends=FOUR),
    *row("Costs", 152, "5", "6", "7", "8", ends=FOUR),
]


def heads(found: list[Any]) -> list[str]:
    """Return the head of the first table."""
    table = next(each for each in found if isinstance(each, list))
    return list(table[0])


def test_a_rule_shows_which_columns_a_head_spans() -> None:
    head = [line("Ended", 230, 100), *DATES]
    spanning = Rule(112, 225, 415)
    assert heads(read([*head, *FOUR_BODY], rules=[spanning])) == [
        *("", "Ended 2023", "Ended 2022", "Ended 2023", "2022")
    ]


def test_a_rule_in_pieces_spans_the_columns_in_whose_middle_the_words_stand() -> None:
    head = [centred("Change", 317, 100), *DATES]
    pieces = [Rule(112, left, right) for left, right in [(220, 255), (300, 335), (380, 415)]]
    assert heads(read([*head, *FOUR_BODY], rules=pieces)) == [
        "",
        "Change 2023",
        "Change 2022",
        "Change 2023",
        "2022",
    ]


def test_a_rule_below_all_heads_shows_nothing() -> None:
    assert heads(read([*PERIODS, *DATES, *FOUR_BODY], rules=[Rule(130, 50, 495)])) == [
        "",
        *(
            "Three months ended 2023",
            "Three months ended 2022",
            "Six months ended 2023",
            "Six months ended 2022",
        ),
    ]


def test_heads_of_several_lines_that_are_drawn_cell_by_cell() -> None:
    cells = [
        line("Gross", 315, 88),
        line("carrying", 305, 100),
        line("amount", 310, 112),
        line("Net", 430, 112),
    ]
    assert heads(read([*cells, *BODY])) == ["", "Gross carrying amount", "Net"]


def test_units_of_all_columns_stand_once_in_the_head_of_the_labels() -> None:
    head = [line("2023", 325, 100), line("2022", 425, 100), centred("(In millions)", 383, 114)]
    assert heads(read([*head, *BODY])) == ["(In millions)", "2023", "2022"]


def test_a_sentence_that_names_the_units_stays_text() -> None:
    text = line("Revenue by kind was as follows, in millions of dollars:", 50, 96)
    found = read([text], [line("2023", 325, 112), line("2022", 425, 112), *BODY])
    assert found[0] == "Revenue by kind was as follows, in millions of dollars:"
    assert heads(found) == ["", "2023", "2022"]


def test_a_title_in_the_middle_of_the_table_is_no_head() -> None:
    title = centred("CONSOLIDATED STATEMENTS OF INCOME", 250, 98)
    found = read([title], [line("2023", 325, 114), line("2022", 425, 114), *BODY])
    assert found[0] == "CONSOLIDATED STATEMENTS OF INCOME"
    assert heads(found) == ["", "2023", "2022"]


def test_a_short_head_beside_a_wide_label_column_names_the_first_figures() -> None:
    assert heads(
        read([line("Q1", 310, 112), line("Q2", 415, 112), *row("Sales", 140, "5", "6"), *BODY[3:]])
    ) == [
        "",
        "Q1",
        "Q2",
    ]


def test_a_period_spans_the_dates_in_whose_middle_it_stands() -> None:
    ends = (250, 330, 410, 490)
    words = [centred("Class", 150, 116), *DATES[1:]]
    body = [
        [line("Comirnaty", 50, y), line("Vaccine", 130, y), *row("", y, *figures, ends=ends[1:])[1:]]
        for y, figures in [(140, ("1", "2", "3")), (152, ("4", "5", "6")), (164, ("7", "8", "9"))]
    ]
    found = read([centred("Year ended", 400, 100), *words, *(part for each in body for part in each)])
    assert heads(found) == ["", "Class", "Year ended 2022", "Year ended 2023", "Year ended 2022"]


def test_rows_after_a_few_words_keep_the_head_of_the_columns() -> None:
    head = [line("2023", 325, 112), line("2022", 425, 112)]
    after = [*row("Media", 226, "1", "2"), *row("Other", 238, "3", "4")]
    first, between, second = read([*head, *BODY], [line("for the treatment of cancer", 250, 192)], after)
    assert between == "for the treatment of cancer"
    assert first[0] == second[0] == ["", "2023", "2022"]


# --- Cells and rows ---------------------------------------------------------------------------------------


def test_a_currency_sign_close_behind_a_figure_belongs_to_the_next() -> None:
    def amounts(label: str, y: float) -> list[PdfLine]:
        words = [("(495)", 300.0, 325.0), ("$", 330.0, 335.0), ("709", 360.0, 375.0)]
        boxes = [(word, Box(left, y, right, y + SIZE)) for word, left, right in words]
        return [
            line(label, 50, y),
            PdfLine(SIZE, False, False, boxes, enclosing_box([box for _, box in boxes])),
        ]

    [table] = read([*amounts("Customers", 140), *amounts("Technology", 152)])
    assert table[1:] == [["Customers", "(495)", "$ 709"], ["Technology", "(495)", "$ 709"]]


def test_figures_set_close_together_are_parted_by_the_columns() -> None:
    def amounts(label: str, y: float, gap: float) -> list[PdfLine]:
        return [line(label, 50, y), line("7,192", 320, y), line("8,288", 345 + gap, y)]

    close = [line("Total", 50, 164), line("17,192 8,288", 315, 164)]
    [table] = read([*amounts("Taxes", 140, 10), *amounts("Other", 152, 10), *close])
    assert table[-1] == ["Total", "17,192", "8,288"]


def test_a_raised_mark_of_a_footnote_stays_with_its_figure() -> None:
    box = Box(347, 137, 353, 143)
    mark = PdfLine(6, False, False, [("(1)", box)], box)
    first, second = row("Revenue", 140, "7,192", "8,288"), row("Costs", 152, "2,544", "2,857")
    [table] = read([*first[:2], mark, first[2], *second])
    assert table[1] == ["Revenue", "7,192 (1)", "8,288"]


def test_the_lines_of_a_wrapped_label_are_one_row() -> None:
    wrapped = [
        line("Net change in unrealised gains on", 50, 164),
        *row("securities held for sale", 174, "1", "2"),
    ]
    [table] = read([*BODY, *wrapped])
    assert table[-1] == ["Net change in unrealised gains on securities held for sale", "1", "2"]


def test_the_name_of_a_group_keeps_its_own_row() -> None:
    head = [line("2023", 325, 112), line("2022", 425, 112)]
    groups = [line("Assets", 50, 128), *BODY, line("Liabilities", 50, 164), *row("Payables", 176, "1", "2")]
    [table] = read([*head, *groups])
    assert [cells[0] for cells in table[1:]] == [
        "Assets",
        "Revenue",
        "Cost of sales",
        "Liabilities",
        "Payables",
    ]


def test_a_label_of_two_lines_that_is_drawn_before_the_figures_beside_it() -> None:
    label = [line("Reported income before tax", 50, 135), line("by segment", 50, 145)]
    figures = row("-", 140, "7,192", "8,288")[1:]
    head = [line("2023", 325, 112), line("2022", 425, 112)]
    [table] = read(
        [*head, *label, *figures, *row("Costs", 165, "2,544", "2,857"), *row("Tax", 177, "1", "2")]
    )
    assert table[1] == ["Reported income before tax by segment", "7,192", "8,288"]


# --- What is a table, and where it ends -------------------------------------------------------------------


def test_contents_are_no_table() -> None:
    pages = [("Item 1. Business", "3"), ("Item 1A. Risk factors", "20"), ("Item 2. Properties", "34")]
    lines = [part for at, (title, page) in enumerate(pages) for part in row(title, 140 + 12 * at, page)]
    lines += row("Item 3. Legal proceedings", 176, "34")
    assert all(isinstance(each, str) for each in read(lines))


def test_a_row_of_dates_begins_another_table() -> None:
    more = [
        line("2021", 325, 164),
        line("2020", 425, 164),
        *row("Media", 176, "1", "2"),
        *row("Other", 188, "3", "4"),
    ]
    first, second = read([line("2023", 325, 112), line("2022", 425, 112), *BODY, *more])
    assert first[0] == ["", "2023", "2022"]
    assert second[0] == ["", "2021", "2020"]


def test_running_text_between_figures_ends_a_table() -> None:
    text = line(
        "The increase in 2023 was due to higher sales of products that we had launched in 2022.", 50, 168
    )
    after = [*row("Media", 186, "1", "2"), *row("Other", 198, "3", "4")]
    assert [type(each) for each in read([*BODY], [text], [*after])] == [list, str, list]


# --- Tables of words --------------------------------------------------------------------------------------


def named(y: float, *words: str, bold: bool = False) -> list[PdfLine]:
    return [line(word, x, y, bold) for word, x in zip(words, (50, 150, 300), strict=False)]


OFFICERS = [
    *named(120, "Jane Doe", "Chair of the board", "Chair since 2003; chief executive"),
    line("from 1973 to 2003.", 300, 131),
    *named(145, "John Smith", "President and chief"),
    line("executive officer", 150, 156),
    line("President since 2003.", 300, 145),
]


def test_names_of_columns_over_cells_of_several_lines() -> None:
    [table] = read([*named(100, "Name", "Position", "Experience", bold=True), *OFFICERS])
    assert table == [
        ["Name", "Position", "Experience"],
        ["Jane Doe", "Chair of the board", "Chair since 2003; chief executive from 1973 to 2003."],
        ["John Smith", "President and chief executive officer", "President since 2003."],
    ]


def test_a_rule_below_names_makes_them_a_head_and_words_without_one_are_text() -> None:
    lines = [*named(100, "Name", "Position", "Experience"), *OFFICERS]
    assert isinstance(read(lines, rules=[Rule(113, 50, 470)])[0], list)
    assert all(isinstance(each, str) for each in read(lines))


def test_running_text_below_names_ends_a_table_of_words() -> None:
    text = line(
        "Each officer is elected by the board of directors for a year and serves until the next.", 50, 175
    )
    table, after = read([*named(100, "Name", "Position", "Experience", bold=True), *OFFICERS, text])
    assert len(table) == 3
    assert after.startswith("Each officer")


def test_rows_close_together_begin_where_the_line_above_had_room() -> None:
    rows = [
        *named(112, "MI", "melody opera", "gilbert"),
        *named(123, "NMT", "What is the melody of our", "gilbert"),
        line("thing?", 150, 134),
        *named(145, "AQA", "What is name melody heard", "xerxes"),
    ]
    [table] = read([*named(95, "Model", "Query", "Answer", bold=True), *rows])
    assert table[1:] == [
        ["MI", "melody opera", "gilbert"],
        ["NMT", "What is the melody of our thing?", "gilbert"],
        ["AQA", "What is name melody heard", "xerxes"],
    ]


def test_a_heading_whose_number_stands_apart_is_no_head() -> None:
    title = [line("Item 1.", 50, 92, bold=True), line("Financial statements", 110, 92, bold=True)]
    head = [line("In millions", 50, 112), line("2023", 325, 124), line("2022", 425, 124)]
    text, table = read([*title, *head, *BODY])
    assert text == "Item 1. Financial statements"
    assert table[0] == ["In millions", "2023", "2022"]


def test_a_footnote_whose_mark_stands_apart_is_no_head() -> None:
    note = [line("(9)", 50, 80), line("Net of tax", 75, 80)]
    lead = [line("The debts were as follows:", 50, 100)]
    head = [line("2023", 325, 120), line("2022", 425, 120)]
    text, table = read([*note, *lead, *head, *BODY])
    assert text == "(9) Net of tax The debts were as follows:"
    assert table[0][1:] == ["2023", "2022"]


def described(label: str, words: str, y: float, *figures: str) -> list[PdfLine]:
    """Return a row with a description between its label and its figures."""
    first, *behind = row(label, y, *figures, ends=(545, 645))
    return [first, *([line(words, 150, y)] if words else []), *behind]


HEAD_OF_PRODUCTS = [
    *[line("Product", 50, 112), line("Indication", 150, 112), line("2021", 525, 112), line("2020", 625, 112)],
    *described("Abatrel", "Anemia", 130, "563", "680"),
]
LONG = "An aid to the cessation of smoking for adults of any age"


def test_long_words_may_stand_between_a_label_and_its_figures() -> None:
    rows = [*described("Bexavol", LONG, 142, "398", "919"), *described("Cortaxin", "Pain", 154, "266", "274")]
    [table] = read([*HEAD_OF_PRODUCTS, *rows])
    assert table == [
        ["Product", "Indication", "2021", "2020"],
        ["Abatrel", "Anemia", "563", "680"],
        ["Bexavol", LONG, "398", "919"],
        ["Cortaxin", "Pain", "266", "274"],
    ]


def test_words_between_a_label_and_its_figures_may_have_several_lines() -> None:
    """The figures stand beside the first line, beside the last, or below it."""
    figures = [line("398", 530, 154), line("919", 630, 154)]
    beside_first = [*described("Bexavol", LONG, 142, "398", "919"), line("and of any weight", 153, 154)]
    beside_last = [*described("Bexavol", LONG, 142)[:2], line("and of any weight", 153, 154), *figures]
    below = [
        *[*described("Bexavol", LONG, 142)[:2], line("and of any weight", 153, 154)],
        *[line("398", 530, 163), line("919", 630, 163)],
    ]
    for rows in (beside_first, beside_last, below):
        [table] = read([*HEAD_OF_PRODUCTS, *rows, *described("Cortaxin", "Pain", 175, "266", "274")])
        assert table[2] == ["Bexavol", f"{LONG} and of any weight", "398", "919"]
        assert table[3][0] == "Cortaxin"


def test_running_text_with_long_words_is_no_row() -> None:
    text = [line("Bexavol", 50, 142), line(LONG, 150, 142), line("398 were treated in all", 545, 142)]
    table, after = read([*HEAD_OF_PRODUCTS, *described("Cortaxin", "Pain", 136, "266", "274"), *text])
    assert len(table) == 3
    assert after.startswith("Bexavol An aid")
