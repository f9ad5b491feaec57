"""Figures of a segment: below a heading, in a column, in a row; never those of the whole company."""

from __future__ import annotations

from uuid import uuid4

import pytest

from search.contexts import Context
from search.generation.extractive import figured_out
from search.generation.extractive.business_segments import (
    asks_for_segment,
    business_segment_of,
    holds_figures_of,
)
from tests.search.contexts import table_context

INCOME = """\
| (in millions) | Years ended June 30, 2023 | Years ended June 30, 2022 |
| --- | --- | --- |
| Net sales | $ 800 | $ 640 |
| Operating income | 80 | 96 |"""
BY_HEADING = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Net sales | $ 300 | $ 340 |
| Operating income | 30 | 51 |"""
BY_COLUMN = """\
| (in millions) | Harbour Lights | Other | Total |
| --- | --- | --- | --- |
| Fiscal 2023 |  |  |  |
| Revenue | $ 300 | $ 500 | $ 800 |
| Operating income | 30 | 50 | 80 |
| Fiscal 2022 |  |  |  |
| Revenue | $ 340 | $ 300 | $ 640 |"""
BY_ROW = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Revenue by segment |  |  |
| Harbour Lights | $ 300 | $ 340 |
| Other | 500 | 300 |
| Total revenue | $ 800 | $ 640 |"""
REPORT = uuid4()


def report(text: str, heading: str) -> list[Context]:
    """Return the income statement of the company, and a table below a heading."""
    tables = [(INCOME, "Consolidated Statements of Income"), (text, heading)]
    return [
        table_context(
            each, rank, document_name="ACME_2023_10K.pdf", document_id=REPORT, headings=("Report", above)
        )
        for rank, (each, above) in enumerate(tables, start=1)
    ]


def test_a_row_below_the_heading_of_a_segment_says_whose_it_is() -> None:
    contexts = report(BY_HEADING, "Harbour Lights Segment")
    [row] = figured_out("What was the revenue of the Harbour Lights segment in fiscal 2023?", contexts)
    assert row == "- Harbour Lights Segment · Net sales · 2023: $ 300 (in millions) <source_2>\n"


def test_a_total_that_is_narrower_makes_no_revenue_of_its_parts() -> None:
    narrow = BY_ROW.replace("| Revenue by segment |  |  |\n", "")
    asked = "What was Harbour Lights revenue in 2023?"
    assert "300" in "".join(figured_out(asked, report(narrow, "Sold")))
    subscriptions = narrow.replace("Total revenue", "Total subscription revenue")
    assert "300" not in "".join(figured_out(asked, report(subscriptions, "Sold")))


PLACES = [
    pytest.param(report(BY_HEADING, "Harbour Lights Segment"), id="below a heading"),
    pytest.param(report(BY_COLUMN, "Segment information"), id="in a column"),
    pytest.param(report(BY_ROW, "Note 7. Segments"), id="in a row"),
]


@pytest.mark.parametrize("contexts", PLACES)
@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue of the Harbour Lights segment in fiscal 2023?",
        "How much revenue did Acme's Harbour Lights segment make in fiscal 2023?",
    ],
)
def test_the_figure_of_the_segment_is_told(question: str, contexts: list[Context]) -> None:
    told = "".join(figured_out(question, contexts))
    assert "300" in told and "<source_2>" in told
    assert "800" not in told


@pytest.mark.parametrize("contexts", PLACES)
def test_whether_it_grew_is_told_of_the_segment(contexts: list[Context]) -> None:
    told = "".join(figured_out("Did revenue of the Harbour Lights segment grow in 2023?", contexts))
    assert told.startswith("- **No**")
    assert "340" in told and "300" in told


def test_formulas_are_worked_out_of_a_segment() -> None:
    question = "What was the operating margin of the Harbour Lights segment in fiscal 2023?"
    for contexts in (report(BY_HEADING, "Harbour Lights"), report(BY_COLUMN, "Segment information")):
        assert "30 ÷ 300 = 10.0 %" in figured_out(question, contexts)[0]
    growth = "By what percentage did net sales of the Harbour Lights segment fall from 2022 to 2023?"
    assert "(300 − 340) ÷ 340 = " in figured_out(growth, report(BY_HEADING, "Harbour Lights Segment"))[0]


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue of the Lighthouses segment in 2023?",
        "What was the gross margin of the Harbour Lights segment in 2023?",
        "What was the revenue of the Harbour Lights segment in 2019?",
    ],
)
@pytest.mark.parametrize("contexts", PLACES)
def test_nothing_is_told_of_what_has_no_figure(question: str, contexts: list[Context]) -> None:
    assert figured_out(question, contexts) == []


@pytest.mark.parametrize(
    ("question", "name", "rest"),
    [
        ("What was revenue of the Print and Advertising segment in 2021?", "Print and Advertising",
         "What was revenue of the in 2021?"),
        ("Did Acme's international segment revenue grow?", "international", "Did Acme's revenue grow?"),
        ("What is NVIDIA's Compute & Networking segment's income?", "Compute & Networking",
         "What is NVIDIA's income?"),
        ("How did the Graphics division do?", "Graphics", "How did the do?"),
        ("Which reportable segment grew?", None, None),
        ("What is a segment?", None, None),
        ("How many segments does Acme have?", None, None),
        ("What was revenue in 2021?", None, None),
    ],
)  # fmt: skip
def test_the_name_of_a_segment_is_what_stands_before_the_word(
    question: str, name: str | None, rest: str | None
) -> None:
    assert business_segment_of(question) == (name, rest or question)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What were net sales of Harbour Lights in fiscal 2023?", "Harbour Lights"),
        ("Did Harbour Lights net sales fall?", "Harbour Lights"),
        ("What were net sales of Harbour Lightsome in fiscal 2023?", None),
        ("What were net sales in fiscal 2023?", None),
        ("Which segment had the highest net sales?", None),
    ],
)
def test_a_segment_is_known_by_its_heading(question: str, name: str | None) -> None:
    headings = ["Consolidated Statements of Income", "Harbour Lights Segment", "Reportable segments"]
    assert business_segment_of(question, headings)[0] == name
    told = "".join(figured_out(question, report(BY_HEADING, "Harbour Lights Segment")))
    assert ("$ 300" in told) is (name is not None)


def test_which_segment_is_no_question_about_one() -> None:
    assert asks_for_segment("Which reportable segment grew most?")
    assert asks_for_segment("Which of the segments has the highest revenue?")
    assert not asks_for_segment("What was the revenue of the Graphics segment?")
    assert not asks_for_segment("Which city has the most inhabitants?")


def test_a_table_holds_a_segment_if_it_has_the_line_that_is_asked_for() -> None:
    _, table = report(BY_COLUMN, "Segment information")
    assert holds_figures_of("Harbour Lights", ["revenue"], table)
    assert holds_figures_of("Harbour Lights", [], table)
    assert not holds_figures_of("Harbour Lights", ["inventories"], table)
    assert not holds_figures_of("Lighthouses", [], table)
