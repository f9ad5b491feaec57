"""Rows of tables and the names that stand above them: where a section ends, and what it tells of its rows."""

from __future__ import annotations

import pytest

from kb.embedding.calibration import MINILM
from search.citations.resolve import resolve
from search.generation.base import GenerationRequest
from search.generation.extractive import extract
from search.generation.extractive.cell_answers import answer_by_cell_of_line
from search.generation.extractive.computing import computed
from search.generation.extractive.statements import statements
from search.generation.extractive.tables import rows_of
from tests.search.contexts import context, table_context
from tests.testing.readings import GivenReading

REGIONS = """\
| | 2023 | 2022 |
| --- | --- | --- |
| Domestic: | | |
| Computing | $ 3,674 | $ 3,948 |
| Appliances | 1,300 | 1,557 |
| Total Domestic revenue | $ 4,974 | $ 5,505 |
| International: | | |
| Computing | $ 309 | $ 327 |
| Appliances | 92 | 104 |"""
SEGMENTS = """\
| ($ in millions) | 2023 | 2022 |
| --- | --- | --- |
| Flexibles | $ 11,154 | $ 11,151 |
| Packaging | 3,540 | 3,393 |
| Other | — | — |
| Net sales | $ 14,694 | $ 14,544 |
| Adjusted earnings before interest ("Adjusted EBIT") | | |
| Flexibles | 1,429 | 1,517 |
| Packaging | 265 | 289 |
| Other | (86) | (105) |
| Adjusted EBIT | 1,608 | 1,701 |
| Less: amortization | (160) | (163) |"""
INCOME = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Revenue | $ 900 | $ 800 |
| Operating expenses: | | |
| Research and development | 200 | 180 |
| Marketing | 100 | 90 |
| Operating income | 600 | 530 |
| Interest | 10 | 12 |
| Net income per common share: | | |
| Net income | 4.10 | 3.90 |
| Diluted | 4.00 | 3.80 |
| (1) Includes compensation in shares as follows | | |
| Research and development | 20 | 18 |"""


@pytest.mark.parametrize(
    ("table", "sections"),
    [
        (REGIONS, ["Domestic"] * 3 + ["International"] * 2),
        # “Adjusted EBIT” is the sum of its rows. A row of dashes names none.
        (SEGMENTS, [""] * 3 + ['Adjusted earnings before interest ("Adjusted EBIT")'] * 4 + [""]),
        (
            INCOME,
            [
                "",
                *["Operating expenses"] * 3,
                "",
                *["Net income per common share"] * 2,
                "(1) Includes compensation in shares as follows",
            ],
        ),
    ],
)
def test_a_section_ends_with_its_total_or_with_what_remains(table: str, sections: list[str]) -> None:
    assert [row.section for row in rows_of(table)] == sections


def test_a_row_is_told_with_its_section() -> None:
    told = [each.text for each in statements("What were sales in 2023?", [table_context(REGIONS)])]
    assert "International · Appliances · 2023: 92" in told
    assert "Total Domestic revenue · 2023: $ 4,974" in told
    results = [each.text for each in statements("What was it in 2023?", [table_context(INCOME)])]
    assert "Operating income · 2023: 600 (in millions)" in results
    assert "Net income per common share · Net income · 2023: 4.10 (in millions)" in results


def test_a_total_below_tells_nothing_of_another_section() -> None:
    [told] = answer_by_cell_of_line(
        "What was the adjusted EBIT of Packaging in 2022?", [table_context(SEGMENTS)]
    )
    assert told == (
        'Adjusted earnings before interest ("Adjusted EBIT") · Packaging'
        " · 2022: 289 (in millions) <source_1>\n"
    )


def test_what_is_included_in_lines_is_no_line() -> None:
    found = computed(
        "What are research and development and marketing together in 2023?", [table_context(INCOME)]
    )
    assert "200 + 100 = 300" in found[0]


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("| (in millions) | 2023 | 2022 |", "in millions"),
        ("| | 2023 (in millions) | 2022 |", "in millions"),
        ("| | 2023 (millions) | 2022 (millions) |", "millions"),
        ("| Country | Area (km²) | Population (millions) |", ""),
    ],
)
def test_the_unit_of_one_column_is_that_of_no_other(header: str, unit: str) -> None:
    [row] = rows_of(f"{header}\n| --- | --- | --- |\n| Finland | 338,424 | 5.5 |")
    assert row.unit == unit


@pytest.mark.parametrize(
    ("question", "column", "is_told"),
    [
        ("What did Europe sell in the fourth quarter of 2022?", "FOURTH QUARTER 2022", True),
        ("What did Europe sell in the fourth quarter of 2022?", "SECOND QUARTER 2022", False),
        (
            "What was sold in the three months to April 30, 2023?",
            "Three Months Ended April 30, 2023",
            True,
        ),
        (
            "What was sold in the three months to April 30, 2023?",
            "Three Months Ended July 30, 2023",
            False,
        ),
    ],
)
def test_a_row_of_another_quarter_or_day_answers_nothing(question: str, column: str, is_told: bool) -> None:
    table = table_context(f"| Sales in Europe | {column} |\n| --- | --- |\n| Retail stores there | 5,124 |")
    asked = GenerationRequest(question, [table])
    said = "".join(extract(asked, GivenReading(odds=lambda _: 5.0)))
    assert ("5,124" in said) is is_told


def test_who_asks_for_a_line_is_told_no_sentence_without_a_figure() -> None:
    cause, amount = "The revenue fell because of fewer visitors.", "The revenue was 9 million euros."
    for sentence, is_told in ((cause, False), (amount, True)):
        asked = GenerationRequest("What was the revenue?", [context(1, sentence)])
        said = "".join(extract(asked, GivenReading(odds=lambda _: 5.0)))
        assert (sentence in said) is is_told


def test_the_row_is_quoted_and_not_the_name_of_its_section() -> None:
    table = table_context(SEGMENTS)
    told = 'Adjusted earnings before interest ("Adjusted EBIT") · Packaging · 2022: 289 <source_1>'
    resolved = resolve(told, [table], "", MINILM, lambda texts: pytest.fail("words are enough"))
    assert [quote.text for quote in resolved.quotes[1]] == ["| Packaging | 265 | 289 |"]
