"""Figures of tables that a question names by row, column, period and what is said around the table."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

import pytest

from kb.embedding.calibration import MINILM
from search.citations.resolve import resolve
from search.contexts import Context
from search.generation.extractive.cell_answers import answer_by_cell_of_line, answer_by_cells
from search.generation.extractive.courses import own_figure
from search.generation.extractive.line_names import StatementKind
from search.generation.extractive.lines import is_statement
from search.generation.extractive.named_cells import telling_words
from tests.search.contexts import table_context

LEASES = """\
| (in thousands) Fiscal Years | Operating Leases |
| --- | --- |
| 2025 | $24,735 |
| 2026 | 19,086 |
| Later Years | 36,959 |
| Total | $80,780 |"""
TAX_BENEFITS = """\
| (in millions) | 2022 | 2021 |
| --- | --- | --- |
| Beginning balance | $ 289 | $ 201 |
| Gross increases in unrecognized tax benefits – prior year | 50 | 112 |
| Tax settlements | (18) | (24) |
| Ending balance | $ 321 | $ 289 |"""
CHARGES = """\
| Accrued Restructuring | Closure in Limerick | Reduction of Costs | Total Special Charges |
| --- | --- | --- | --- |
| Balance at November 1, 2008 | $ 11,754 | $ 6,427 | $ 18,181 |
| Severance payments | (11,802) | (21,156) | (32,958) |
| Balance at October 31, 2009 | $ 312 | $ 15,020 | $ 15,332 |"""
REGIONS = """\
| | 2009 | 2008 |
| --- | --- | --- |
| Property, plant and equipment | | |
| United States | $ 204,758 | $ 251,616 |
| Ireland | 155,428 | 186,487 |
| Philippines | 116,330 | 129,336 |
| Subtotal all foreign countries | 271,758 | 315,823 |
| Total property, plant and equipment | $ 476,516 | $ 567,439 |"""
OBLIGATIONS = """\
| (thousands) | Total | Less than 1 Year | 1-3 Years | More than 5 Years |
| --- | --- | --- | --- | --- |
| Contractual obligations: | | | | |
| Operating leases | $ 80,782 | $24,735 | $37,792 | $18,255 |
| Pension funding | 30,050 | 30,050 | — | — |
| Total | $110,832 | $54,785 | $37,792 | $18,255 |"""
INTANGIBLES = """\
| (in millions) | 2022 Gross Carrying Amount | 2022 Accumulated Amortization | 2022 Net |
| --- | --- | --- | --- |
| Purchased technology | $ 1,060 | $ (530) | $ 530 |
| Trademarks | 375 | (172) | 203 |"""
COMPENSATION = """\
| (in millions) | 2022 | 2021 |
| --- | --- | --- |
| Cost of revenue | $ 97 | $ 70 |
| Research and development | 726 | 549 |
| Total | $ 823 | $ 619 |"""
GOODWILL = """\
| (in millions) | 2020 | Acquisitions | 2021 | Acquisitions | 2022 |
| --- | --- | --- | --- | --- | --- |
| Media | $ 2,868 | $ 863 | $ 3,731 | $ 158 | $ 3,889 |
| Goodwill | $ 10,742 | $ 1,926 | $ 12,668 | $ 119 | $ 12,787 |"""
INVENTORIES = """\
| | Inventories at October 31, 2009 and November 1, 2008 were as follows: 2009 | 2008 |
| --- | --- | --- |
| Raw materials | $ 13,373 | $ 15,350 |
| Finished goods | 66,092 | 98,843 |
| Total inventories | $ 79,465 | $ 114,193 |"""
RATES = """\
| | 2023 | 2022 |
| --- | --- | --- |
| Income tax expense at statutory rate | $ 256 | $ 212 |
| Discount rate | 4.3 % | 3.8 % |"""


def note(text: str, heading: str = "", introduction: str = "", rank: int = 1, **other: object) -> Context:
    """Return a table of a note below a heading and behind a sentence."""
    headings = ("Notes", heading) if heading else ()
    return table_context(text, rank, headings=headings, introduction=introduction, **other)


def told(question: str, *contexts: Context) -> str:
    return "".join(answer_by_cells(question, contexts))


@pytest.mark.parametrize(
    ("question", "context", "expected"),
    [
        (
            "What portion of the total operating lease commitments is due in 2025?",
            note(LEASES, "Lease Commitments"),
            "24,735 ÷ 80,780 = 30.6 %",
        ),
        (
            "What is the total of operating lease payments due in 2025 and 2026?",
            note(LEASES, "Lease Commitments", "Future minimum payments are as follows:"),
            "24,735 + 19,086 = 43,821 (in thousands)",
        ),
        (
            "By how much did unrecognized tax benefits increase from 2021 to 2022?",
            note(TAX_BENEFITS, "Income Taxes"),
            "321 − 289 = 32 (in millions)",
        ),
        (
            "What was the change in the special charges balance from 2008 to 2009?",
            note(CHARGES, "Special Charges"),
            "15,332 − 18,181 = −2,849",
        ),
        (
            "What share of property, plant and equipment was located in Ireland in 2009?",
            note(REGIONS, "Geographic Information"),
            "155,428 ÷ 476,516 = 32.6 %",
        ),
        (
            "What percent of contractual obligations is due in less than one year?",
            note(OBLIGATIONS, "Liquidity"),
            "54,785 ÷ 110,832 = 49.4 %",
        ),
        (
            "What was the percentage increase in goodwill of Media from 2021 to 2022?",
            note(GOODWILL, "Goodwill"),
            "(3,889 − 3,731) ÷ 3,731 = 4.2 %",
        ),
        (
            "What percentage of total inventories were finished goods in 2009?",
            note(INVENTORIES, "Inventories"),
            "66,092 ÷ 79,465 = 83.2 %",
        ),
        (
            "What was the percentage change in total inventories from 2008 to 2009?",
            note(INVENTORIES, "Inventories"),
            "(79,465 − 114,193) ÷ 114,193 = −30.4 %",
        ),
    ],
)
def test_what_a_note_answers_is_worked_out(question: str, context: Context, expected: str) -> None:
    answer = told(question, context)
    assert f"{expected}**" in answer
    assert "<source_1>" in answer


@pytest.mark.parametrize(
    ("question", "context", "expected"),
    [
        (
            "What was the accrued restructuring balance at October 31, 2009?",
            note(CHARGES, "Special Charges"),
            "Balance at October 31, 2009 · Total Special Charges: $ 15,332",
        ),
        (
            "How much operating leases are due in 2026?",
            note(LEASES, "Lease Commitments"),
            "2026 · Operating Leases: 19,086",
        ),
        (
            "What was the net carrying amount of purchased technology in 2022?",
            note(INTANGIBLES, "Intangibles"),
            "Purchased technology · 2022 Net: $ 530",
        ),
        (
            "What was the beginning balance of unrecognized tax benefits in 2022?",
            note(TAX_BENEFITS, "Income Taxes"),
            "Beginning balance · 2022: $ 289",
        ),
        (
            "What was the income tax expense at statutory rate in 2022?",
            note(RATES, "Income Taxes"),
            "Income tax expense at statutory rate · 2022: $ 212",
        ),
        ("What was the discount rate in 2023?", note(RATES, "Pensions"), "Discount rate · 2023: 4.3 %"),
    ],
)
def test_one_figure_is_told_with_its_row_and_column(question: str, context: Context, expected: str) -> None:
    assert told(question, context).startswith(expected)


@pytest.mark.parametrize(
    ("question", "context"),
    [
        # Of what the question says, nothing is known.
        ("What portion of the pension payments is due in 2025?", note(LEASES, "Lease Commitments")),
        ("What share of revenue was made in Ireland in 2009?", note(REGIONS, "Geographic Information")),
        # No column is of that year.
        (
            "By how much did unrecognized tax benefits increase from 2017 to 2018?",
            note(TAX_BENEFITS, "Income Taxes"),
        ),
        # Two columns may be meant.
        ("What was purchased technology in 2022?", note(INTANGIBLES, "Intangibles")),
        # A yes or no, and a cause, are told by sentences.
        ("Did unrecognized tax benefits increase in 2022?", note(TAX_BENEFITS, "Income Taxes")),
        ("Why did unrecognized tax benefits increase in 2022?", note(TAX_BENEFITS, "Income Taxes")),
    ],
)
def test_it_refuses_rather_than_guesses(question: str, context: Context) -> None:
    assert told(question, context) == ""


def test_totals_are_known_in_german() -> None:
    rows = "| Deutschland | 1.200,0 |\n| Ausland | 2.000,5 |\n| Summe Umsatz | 4.000,0 |"
    context = note(f"| | 2023 |\n| --- | --- |\n{rows}", "Umsatz nach Regionen", language="de")
    answer = told("Welcher Anteil am Umsatz war 2023 Deutschland?", context)
    assert "1.200,0 ÷ 4.000,0 = 30,0 %" in answer


def test_tables_that_differ_tell_nothing() -> None:
    question = "What was spent on research and development in 2022?"
    spent = COMPENSATION.replace("726", "2,987")
    assert told(question, note(COMPENSATION, "Expenses spent"), note(spent, "Spent", rank=2)) == ""
    assert told(question, note(COMPENSATION, "Expenses spent"), note(COMPENSATION, "Spent", rank=2)) != ""


def test_the_parts_of_a_table_are_read_in_its_order() -> None:
    lines = REGIONS.split("\n")
    document = UUID(int=1)
    first = note("\n".join(lines[:6]), "Geography", rank=2, ordinal=7, document_id=document)
    rest = note("\n".join([*lines[:3], *lines[6:]]), "Geography", rank=1, ordinal=8, document_id=document)
    answer = told("What share of property, plant and equipment was in Ireland in 2009?", rest, first)
    assert "155,428 ÷ 476,516 = 32.6 %" in answer
    assert set(re.findall(r"<source_\d>", answer)) == {"<source_1>", "<source_2>"}


def test_what_is_asked_beside_a_line_is_no_line() -> None:
    of_expense = note(COMPENSATION, "Stock-based compensation")
    asked = "What was stock-based compensation for research and development in 2022?"
    assert answer_by_cell_of_line(asked, [of_expense])[0].startswith("Research and development · 2022: 726")
    assert answer_by_cell_of_line("What was stock-based compensation in 2022?", [of_expense]) == []


def test_what_a_table_is_about_may_stand_in_the_sentence_before_it() -> None:
    asked = "What is the amortization expense expected in 2026?"
    assert told(asked, note(LEASES.replace("Operating Leases", "Intangibles"))) == ""
    introduced = note(
        LEASES.replace("Operating Leases", "Intangibles"),
        introduction="The expected amortization expense is:",
    )
    assert told(asked, introduced).startswith("2026 · Intangibles: 19,086")


def test_the_verifier_holds_what_is_told() -> None:
    context = note(REGIONS, "Geographic Information")
    answer = told("What share of property, plant and equipment was in Ireland in 2009?", context)
    resolved = resolve(answer, [context], "", MINILM, lambda texts: pytest.fail("words are enough"))
    assert (resolved.removed, resolved.sources_used) == (0, [1])


def test_a_table_without_years_is_of_the_year_said_around_it() -> None:
    table = "| | Shares |\n| --- | --- |\n| Awarded | 4.5 |\n| Released | 3.0 |"
    asked = "How many restricted stock units were awarded in 2022?"
    introduced = "Restricted stock unit activity for 2022 was as follows:"
    assert "Awarded · Shares: 4.5" in told(asked, note(table, "Restricted Stock Units", introduced))
    assert told(asked, note(table, "Restricted Stock Units")) == ""
    named = replace(note(table, "Restricted Stock Units"), document_name="report_2022.pdf")
    assert "4.5" in told(asked, named)


def test_a_row_called_total_is_of_the_line_that_its_table_is_about() -> None:
    compensation = "| | Three Months 2023 |\n| --- | --- |\n| Research | 701 |\n| Total | 979 |"
    asked = "How has total net sales trended over time?"
    of_note = note(compensation, "Stock-Based Compensation", document_name="2023_Q3_LAMP.pdf")
    assert own_figure(asked, of_note) is None
    of_sales = note(compensation, "Net Sales by Product", document_name="2023_Q3_LAMP.pdf")
    figure = own_figure(asked, of_sales)
    assert figure is not None and figure.figure.text == "979"


def test_a_sentence_that_announces_a_table_makes_no_statement_of_it() -> None:
    announced = f"Our statements of income include compensation as follows:\n\n{COMPENSATION}"
    assert not is_statement(StatementKind.INCOME, ("Notes",), announced)
    titled = f"Consolidated Statements of Income\n\n{COMPENSATION}"
    assert is_statement(StatementKind.INCOME, ("Notes",), titled)


def test_words_for_periods_tell_nothing_of_a_figure() -> None:
    told = telling_words("Leases in Q2 of FY23, H1 and 2022", "en")
    assert told == telling_words("Leases", "en") and told


def test_an_amount_has_not_grown_like_its_share() -> None:
    shares = """\
| Region | 2009 | 2008 |
| --- | --- | --- |
| Japan | 17% | 19% |
| China | 83% | 81% |"""
    question = "By how many percent did revenue in Japan fall from 2008 to 2009?"
    amounts = shares.replace("17%", "340").replace("19%", "500").replace("%", "")
    assert told(question, note(shares, "Revenue by region")) == ""
    assert "−32.0 %" in told(question, note(amounts, "Revenue by region"))
