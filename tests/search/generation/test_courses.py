"""How a figure has gone on: of each report of a series its own, and nothing where it is not sure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.contexts import Context
from search.generation.extractive.courses import course, own_figure
from search.named_documents import asks_for_course
from tests.search.generation.test_extractive import table

INCOME = (
    "| (in millions) | Three Months Ended {day}, {year} | Three Months Ended {day}, {before} |"
    " Six Months Ended {day}, {year} |\n| --- | --- | --- | --- |\n"
    "| Net revenue | $ {one} | $ 900 | $ 5,000 |\n| Data center | {two} | 300 | 2,000 |"
)
BALANCE = (
    "| (in millions) | December 31, 2022 | {day}, 2023 |\n| --- | --- | --- |\n| Inventories | 700 | {one} |"
)
DAYS = {1: "March 31", 2: "June 30", 3: "September 30"}


def reports(text: str, year: int = 2023) -> list[Context]:
    """Return a table of each of three quarterly reports, the latest first, as they may be found."""
    return [
        replace(
            table(rank, text.format(day=DAYS[q], year=year, before=year - 1, one=1000 * q, two=400 * q)),
            document_name=f"{year}_Q{q}_ACME.pdf",
        )
        for rank, q in enumerate((3, 2, 1), start=1)
    ]


@pytest.mark.parametrize(
    "question",
    [
        "How has ACME's total net sales trended over time?",
        "What was revenue in each quarter?",
        "How did net revenue develop across the reported periods?",
    ],
)
def test_each_report_tells_its_own_figure_the_oldest_first(question: str) -> None:
    assert course(question, reports(INCOME)) == [
        f"- Net revenue · Three Months Ended {DAYS[q]}, 2023: $ {1000 * q} (in millions) <source_{rank}>\n"
        for q, rank in ((1, 3), (2, 2), (3, 1))
    ]


def test_the_row_that_is_more_special_is_meant() -> None:
    found = course("Is there a trend in data center revenue over the quarters?", reports(INCOME))
    assert [line.split(": ")[1].split(" ")[0] for line in found] == ["400", "800", "1200"]


def test_of_balances_the_latest_day_counts_wherever_it_stands() -> None:
    found = course("How have inventories changed over time?", reports(BALANCE))
    assert [line.split(": ")[1].split(" ")[0] for line in found] == ["1000", "2000", "3000"]


@pytest.mark.parametrize(
    "question",
    [
        "What was net revenue in 2023?",  # of one report
        "How has the number of lighthouses changed over time?",  # no such row
        "How has net revenue in Portugal changed over time?",  # not said of the reports
    ],
)
def test_nothing_is_told_where_it_is_not_meant_or_not_said(question: str) -> None:
    assert course(question, reports(INCOME)) == []


def test_the_best_passage_of_a_report_counts_that_has_the_figure() -> None:
    notes = [
        replace(
            table(10 + each.rank, "| | 2023 |\n| --- | --- |\n| Rent | 7 |"), document_name=each.document_name
        )
        for each in reports(INCOME)
    ]
    asked = "What was revenue in each quarter?"
    assert course(asked, [*notes, *reports(INCOME)]) == course(asked, reports(INCOME)) != []


def test_of_one_report_alone_there_is_no_course() -> None:
    assert course("How has net revenue changed over time?", reports(INCOME)[:1]) == []


def test_a_figure_that_two_columns_may_be_is_left_out() -> None:
    text = "| (in millions) | Total 2023 | Restated 2023 |\n| --- | --- | --- |\n| Net revenue | 10 | 11 |"
    report = replace(table(1, text), document_name="2023_Q1_ACME.pdf")
    assert own_figure("How has net revenue changed over time?", report) is None


@pytest.mark.parametrize(
    "question", ["Wie war der Umsatz über die Quartale?", "L’évolution au fil du temps ?"]
)
def test_other_languages_ask_for_a_course_too(question: str) -> None:
    assert asks_for_course(question)


def test_a_year_that_is_named_asks_for_no_course() -> None:
    assert not asks_for_course("What was the revenue of the fiscal year 2023?")
