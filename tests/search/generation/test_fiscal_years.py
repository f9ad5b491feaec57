"""Questions about fiscal years, quarters and days are answered from the columns that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

import pytest

from core.text.fiscal import FiscalCalendar
from kb.embedding.base import Vectors
from kb.embedding.calibration import MINILM
from search.citations.resolve import resolve
from search.contexts import Context
from search.generation.extractive import figured_out
from search.generation.extractive.statements import statements
from search.generation.extractive.subjects import of_owner
from tests.search.contexts import context, table_context

BEAUTY = FiscalCalendar(1, 29, is_called_before=True)
STORES = FiscalCalendar(1, 28)
YEAR = """\
| (in thousands) | 52 Weeks Ended January 28, 2023 | 52 Weeks Ended January 28, 2023 \
| 52 Weeks Ended January 29, 2022 |
| --- | --- | --- | --- |
| Net sales | $ 10,208 | 100.0% | $ 8,630 |
| Cost of sales | 6,164 | 60.4% | 5,262 |
| Selling, general and administrative expenses | 2,395 | 23.5% | 2,061 |
| Net income | $ 1,242 | 12.2% | $ 985 |"""
QUARTER = """\
| $ in millions | Three Months Ended July 29, 2023 | Three Months Ended July 30, 2022 \
| Six Months Ended July 29, 2023 | Six Months Ended July 30, 2022 |
| --- | --- | --- | --- | --- |
| Revenue | $ 9,583 | $ 10,329 | $ 19,050 | $ 20,976 |
| Gross profit | 2,220 | 2,287 | 4,370 | 4,640 |
| Operating income | 348 | 371 | 659 | 833 |"""
BALANCE = """\
| $ in millions | July 29, 2023 | January 28, 2023 | July 30, 2022 |
| --- | --- | --- | --- |
| Cash and cash equivalents | $ 1,093 | $ 1,874 | $ 840 |
| Receivables, net | 856 | 1,141 | 840 |
| Merchandise inventories | 5,651 | 5,140 | 6,043 |
| Total assets | $ 15,318 | $ 15,803 | $ 15,419 |"""
FLOWS = """\
| $ in millions | Six Months Ended July 29, 2023 | Six Months Ended July 30, 2022 |
| --- | --- | --- |
| Merchandise inventories | (508) | (79) |
| Additions to property and equipment | (395) | (441) |"""
PRODUCTS = """\
| $ in millions | Three Months Ended July 29, 2023 | Three Months Ended July 30, 2022 |
| --- | --- | --- |
| Revenue: |  |  |
| Gaming | $ 1,500 | $ 1,000 |
| Data Center | 900 | 600 |
| Total revenue | $ 2,400 | $ 1,600 |
| Cost of revenue: |  |  |
| Gaming | 700 | 400 |"""
JOINT_VENTURE = """\
| $ in millions | Twelve Months Ended January 28, 2023 |
| --- | --- |
| Net sales | $ 80,000 |
| Gross profit | 20,000 |"""
REPORTS = {"BEAUTY_2022.pdf": uuid4(), "STORES_2024Q2.pdf": uuid4()}


def table(text: str, rank: int, name: str, heading: str, calendar: FiscalCalendar) -> Context:
    return table_context(
        text, rank, document_name=name, document_id=REPORTS[name], headings=(heading,), calendar=calendar
    )


BEAUTIES = [table(YEAR, 1, "BEAUTY_2022.pdf", "Consolidated Statements of Income", BEAUTY)]
SHOPS = [
    table(text, rank, "STORES_2024Q2.pdf", f"Condensed Consolidated {heading}", STORES)
    for rank, (text, heading) in enumerate(
        [
            (QUARTER, "Statements of Earnings"),
            (BALANCE, "Balance Sheets"),
            (FLOWS, "Statements of Cash Flows"),
        ],
        start=1,
    )
]


PARTS = [table(PRODUCTS, 1, "STORES_2024Q2.pdf", "Segment Information", STORES)]


def told(question: str, contexts: list[Context]) -> str:
    return "".join(figured_out(question, contexts)).replace("\\", "")


@pytest.mark.parametrize(
    ("question", "contexts", "expected"),
    [
        ("What was net income in fiscal 2022?", BEAUTIES, "January 28, 2023: $ 1,242"),
        ("What was net income in FY2021?", BEAUTIES, "January 29, 2022: $ 985"),
        ("What was the net profit margin in fiscal 2022?", BEAUTIES, "1,242 ÷ 10,208 = 12.2 %"),
        ("By how much did net sales grow in fiscal 2022?", BEAUTIES,
         "52 Weeks Ended January 29, 2022 → 52 Weeks Ended January 28, 2023: 10,208 − 8,630 = 1,578"),
        ("What percentage of net sales was SG&A in fiscal 2022?", BEAUTIES, "2,395 ÷ 10,208 = 23.5 %"),
        ("What was the gross margin in Q2 of FY2024?", SHOPS, "July 29, 2023: 2,220 ÷ 9,583 = 23.2 %"),
        ("What was the gross margin in the first half of fiscal 2024?", SHOPS, "4,370 ÷ 19,050 = 22.9 %"),
        ("By what percentage did revenue fall in Q2 FY2024 compared with Q2 FY2023?", SHOPS,
         "July 30, 2022 → Three Months Ended July 29, 2023: (9,583 − 10,329) ÷ 10,329 = −7.2 %"),
        ("By what percentage did revenue fall in Q2 FY2024 from the prior-year quarter?", SHOPS, "−7.2 %"),
        ("Did operating income increase in Q2 FY2024?", SHOPS, "**No** – Operating income"),
        ("Was there any drop in cash & cash equivalents between FY 2023 and Q2 of FY2024?", SHOPS,
         "**Yes** – Cash and cash equivalents · January 28, 2023: $ 1,874 · July 29, 2023: $ 1,093"),
        ("Were receivables lower at July 29, 2023 than at January 28, 2023?", SHOPS, "**Yes** – Receivables"),
        ("Were receivables lower at January 28, 2023 than at July 29, 2023?", SHOPS, "**No** – Receivables"),
        ("By how much did merchandise inventories change between January 28, 2023 and July 29, 2023?", SHOPS,
         "5,651 − 5,140 = 511"),
        ("Did operating income increase in the second quarter?", SHOPS,
         "**No** – Operating income · Three Months Ended July 30, 2022: 371"),
        ("How much cash did the company have at the end of fiscal 2023?", SHOPS, "January 28, 2023: $ 1,874"),
        ("What did the company spend on capital expenditures in the first six months of fiscal 2024?", SHOPS,
         "Six Months Ended July 29, 2023: (395)"),
    ],
)  # fmt: skip
def test_the_column_that_is_meant_answers(question: str, contexts: list[Context], expected: str) -> None:
    assert expected in told(question, contexts)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Gaming revenue in Q2 of FY2024?", "Gaming · Three Months Ended July 29, 2023: $ 1,500"),
        ("What was the revenue of Gaming in Q2 of FY2024?",
         "Gaming · Three Months Ended July 29, 2023: $ 1,500"),
        ("What was revenue from the data center in Q2 of FY2024?",
         "Data Center · Three Months Ended July 29, 2023: 900"),
        ("How much revenue did Gaming make in Q2 of FY2024?",
         "Gaming · Three Months Ended July 29, 2023: $ 1,500"),
        ("By what percentage did Gaming revenue grow in Q2 of FY2024?",
         "(1,500 − 1,000) ÷ 1,000 = 50.0 %"),
        ("What was data center revenue in the second quarter?",
         "Data Center · Three Months Ended July 29, 2023: 900"),
    ],
)  # fmt: skip
def test_the_part_of_a_line_is_the_row_below_it(question: str, expected: str) -> None:
    assert expected in told(question, PARTS)


def test_another_company_in_the_same_report_does_not_stand_for_it() -> None:
    others = table(JOINT_VENTURE, 2, "BEAUTY_2022.pdf", "Note 2. Investments", BEAUTY)
    assert "÷ 10,208 = 39.6 %" in told("What was the gross margin in fiscal 2022?", [others, *BEAUTIES])


def test_those_who_stand_surety_do_not_stand_for_it() -> None:
    sureties = table(JOINT_VENTURE, 1, "BEAUTY_2022.pdf", "Statements of Income of the Guarantors", BEAUTY)
    assert told("What was the gross margin in fiscal 2022?", [sureties]) == ""
    assert "20,000 ÷ 80,000" in told(
        "What was the gross margin of the guarantors in fiscal 2022?", [sureties]
    )


@pytest.mark.parametrize(
    ("question", "contexts"),
    [
        ("By what percentage did revenue fall in Q2 FY2024 compared with Q2 FY2023?", SHOPS),
        ("What was the gross margin in the first half of fiscal 2024?", SHOPS),
        ("What was the net profit margin in fiscal 2022?", BEAUTIES),
        ("By how much did merchandise inventories change between January 28, 2023 and July 29, 2023?", SHOPS),
        ("By what percentage did Gaming revenue grow in Q2 of FY2024?", PARTS),
    ],
)
def test_the_verifier_proves_formulas_of_all_periods(question: str, contexts: list[Context]) -> None:
    resolved = resolve("".join(figured_out(question, contexts)), contexts, question, MINILM, no_model)
    assert resolved.removed == 0
    assert resolved.sources_used


def no_model(texts: Sequence[str]) -> Vectors:
    """Fail: words are enough to check a formula."""
    pytest.fail(f"{len(texts)} texts were compared")


def test_an_opening_tells_whose_report_it_is() -> None:
    question = "What was Lipstick Corporation's net income in fiscal 2022?"
    assert told(question, BEAUTIES) == ""
    opened = [
        replace(each, opening="LIPSTICK CORPORATION\n\n(Exact name of registrant)") for each in BEAUTIES
    ]
    assert "$ 1,242" in told(question, opened)


def test_passages_are_not_told_of_another_owner() -> None:
    assert of_owner("What was Acme's net income in fiscal 2022?", BEAUTIES) == []
    assert of_owner("What was Beauty's net income in fiscal 2022?", BEAUTIES) == BEAUTIES
    assert of_owner("What was net income in fiscal 2022?", BEAUTIES) == BEAUTIES
    assert of_owner("What is Acme's slogan?", BEAUTIES) == BEAUTIES


def test_nothing_is_quoted_of_years_that_are_not_asked_for() -> None:
    talk = context(2, "Net income in fiscal 2021 was good.", "Net income in fiscal 2019 was poor.")
    found = {each.text for each in statements("What was net income in fiscal 2019?", [*BEAUTIES, talk])}
    assert found == {"Net income in fiscal 2019 was poor."}


@pytest.mark.parametrize(
    "question",
    [
        "What was net income in fiscal 2023?",
        "What was net income in the second quarter of fiscal 2022?",
        "By what percentage did SG&A as a part of net sales change in fiscal 2022?",
    ],
)
def test_what_no_column_is_of_is_not_told(question: str) -> None:
    assert told(question, BEAUTIES) == ""


@pytest.mark.parametrize(
    "question",
    [
        "What was deferred revenue in Q2 of FY2024?",
        "By how much did merchandise inventories increase in the first six months of fiscal 2024?",
    ],
)
def test_another_line_and_the_change_of_a_balance_are_not_taken(question: str) -> None:
    assert told(question, SHOPS) == ""


def test_a_row_is_quoted_with_the_cells_of_the_fiscal_year() -> None:
    found = {each.text for each in statements("What was net income in fiscal 2022?", BEAUTIES)}
    assert any("1,242" in text and "985" not in text for text in found if text.startswith("Net income"))
