"""Formulas in the words of a question: what is understood, what is worked out, and what is left alone."""

from __future__ import annotations

import pytest

from search.citations.formulas import proven
from search.generation.extractive import worked_out
from search.generation.extractive.asked_formulas import formula_asked
from search.generation.extractive.expressions import MOST_CHARS, NotUnderstood, expression_in
from search.generation.extractive.question_parts import parts_of_question
from tests.search.generation.test_measuring import STATEMENTS

AVERAGE = "({inventories@2022} + {inventories@2023}) ÷ 2"


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ("cash from operations / total current liabilities",
         "{operating_cash@2023} ÷ {current_liabilities@2023}"),
        ("revenue divided by total assets", "{revenue@2023} ÷ {assets@2023}"),
        ("365 * (average inventory between FY2022 and FY2023) / FY2023 COGS",
         f"365 × {AVERAGE} ÷ {{cost@2023}}"),
        ("(FY2023 COGS) / (the average of inventories)", f"{{cost@2023}} ÷ ({AVERAGE})"),
        ("operating income + depreciation and amortization from the cash flow statement",
         "{operating_income@2023} + {depreciation@2023}"),
        ("revenue − (cost of sales - change in inventory)",
         "{revenue@2023} − ({cost@2023} − ({inventories@2023} − {inventories@2022}))"),
        ("accounts receivable (AR) / 2022 revenue", "{receivables@2023} ÷ {revenue@2022}"),
        ("EBITDA less capex", "{operating_income@2023} + {depreciation@2023} − {capital_expenditure@2023}"),
        ("1 - dividends paid / net income attributable to shareholders",
         "1 − {dividends@2023} ÷ {attributable_income@2023}"),
    ],
)  # fmt: skip
def test_formulas_in_words(words: str, way: str) -> None:
    assert expression_in(words, {}, ["2023"]).way == way


@pytest.mark.parametrize(
    "words",
    [
        "the mood of the board",
        "revenue /",
        "(revenue",
        "revenue cost of sales",
        "",
        "revenue plus 3",
        "x" * (MOST_CHARS + 1),
    ],
)
def test_other_words_are_no_formula(words: str) -> None:
    with pytest.raises(NotUnderstood):
        expression_in(words, {}, ["2023"])


def test_definitions_may_name_each_other_but_not_themselves() -> None:
    defined = {"cycle": "days + days", "days": "365 * inventory / COGS"}
    assert expression_in("cycle", defined, ["2023"]).way.count("{inventories@2023}") == 2
    with pytest.raises(NotUnderstood):
        expression_in("ring", {"ring": "ring / revenue"}, ["2023"])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the FY2023 asset turnover ratio for Acme? It is defined as: FY2023 revenue / (average "
         "total assets between FY2022 and FY2023). Round your answer to two decimal places.",
         "800 ÷ ((900 + 1,000) ÷ 2) = 0.84"),
        ("What is the 2022 - 2023 average of capex as a % of revenue for Acme?",
         "(25 ÷ 640 + 30 ÷ 800) ÷ 2 = 3.8 %"),
        ("What was Acme's EBITDA less capital expenditures in 2023?", "80 + 20 − 30 = 70"),
        ("How much did Acme's working capital change between FY2022 and FY2023?",
         "300 − 250 − (280 − 200) = -30"),
        ("What is Acme's FY2023 net debt to EBITDA? Define net debt as long-term debt plus short-term debt. "
         "Define EBITDA as operating income + D&A.", "(150 + 50) ÷ (80 + 20) = 2.00"),
        ("You are an analyst. By using the balance sheet, what is Acme's FY2023 quick ratio? Quick ratio is "
         "calculated as receivables / current liabilities. Answer with three decimals.", "160 ÷ 250 = 0.640"),
        ("Return on equity 2023 of Acme, with ROE = net income / (average total equity)",
         "40 ÷ ((480 + 500) ÷ 2) = 0.08"),
        ("What was the two-year average net profit margin of Acme for FY2022 and FY2023?",
         "(48 ÷ 640 + 40 ÷ 800) ÷ 2 = 6.3 %"),
        ("What is the average revenue of Acme over 2022 and 2023?", "(640 + 800) ÷ 2 = 720"),
        ("What was Acme's revenue minus cost of sales as a percentage of total assets in 2023?",
         "(800 − 600) ÷ 1,000 = 20.0 %"),
        ("What were Acme's inventory and receivables combined as a share of total assets in 2023?",
         "(100 + 160) ÷ 1,000 = 26.0 %"),
        ("What's the difference between Acme's gross margin and operating margin in 2023?",
         "(800 − 600) ÷ 800 − (80 ÷ 800) = 15.0 %"),
        ("How did Acme's cost of sales compare to its revenue in 2023?", "600 ÷ 800 = 75.0 %"),
        ("What was Acme's ratio of inventories to total debt in 2023?", "100 ÷ (50 + 150) = 0.50"),
        ("How does Acme's net income compare with operating cash flow in 2023?", "40 ÷ 90 = 44.4 %"),
        ("What was the change in Acme's receivables plus inventories between FY2022 and FY2023?",
         "160 + 100 − (150 + 90) = 20"),
        ("What was Acme's return on invested capital in 2023? Define ROIC as operating income / "
         "(long-term debt + total equity).", "80 ÷ (150 + 500) = 0.12"),
        ("What is Acme's quick ratio, defined as receivables / current liabilities?", "160 ÷ 250 = 0.64"),
        ("What is the cash conversion cycle of Acme in 2023, defined as inventory / COGS × 365?",
         "100 ÷ 600 × 365 = 60.83"),
    ],
)  # fmt: skip
def test_a_formula_is_worked_out_from_cited_cells(question: str, expected: str) -> None:
    formula, *rows = worked_out(question, STATEMENTS)
    plain = formula.replace("\\", "").replace("−30", "-30")
    assert expected in plain
    assert all("<source_" in line for line in (formula, *rows))


def test_all_numbers_of_a_formula_are_proven_or_cited() -> None:
    """No source has the divisor of a mean, the days of a year or the whole that a share is taken from."""
    days = proven("365 × ((90 + 100) ÷ 2) ÷ 600 = 57.79", "en")
    assert {"365", "2", "57.79"} <= days and not days & {"90", "100", "600"}
    assert proven("(1 − 20 ÷ 80 + 1 − 30 ÷ 90) ÷ 2 = 0.71", "en") == {"1", "2", "0.71"}
    assert "3" not in proven("(40 + 20) ÷ 3 = 20", "en")


@pytest.mark.parametrize(
    "question",
    [
        "What was Acme's revenue in 2023?",
        "What was Acme's average revenue growth from 2021 to 2023?",
        "How much did Acme's average inventory increase from 2022 to 2023?",
        "How did Acme's operating income to revenue develop from 2022 to 2023?",
        "Did the quick ratio improve in 2023?",
        "How did Acme's revenue in 2023 compare to 2022?",
        "What is the mean temperature divided by the height of the tower in 2023?",
        "How is net income defined as of 2023?",
        "Who is the chief executive?",
    ],
)
def test_other_questions_give_no_formula(question: str) -> None:
    assert formula_asked(question) is None


@pytest.mark.parametrize(
    ("question", "name", "formula"),
    [
        ("What was the free cash flow (operating cash flow minus capex) in 2023?",
         "free cash flow", "operating cash flow minus capex"),
        ("What was the working capital, i.e. current assets less current liabilities, in 2023?",
         "working capital", "current assets less current liabilities, in 2023"),
        ("Wie lange dauerte es 2023 (Forderungen geteilt durch den Umsatz, mal 365)?",
         "it", "Forderungen geteilt durch den Umsatz, mal 365"),
    ],
)  # fmt: skip
def test_what_is_said_in_other_words_defines_it(question: str, name: str, formula: str) -> None:
    said = parts_of_question(question)
    assert said.definitions == {name: formula}
    assert formula not in said.question


@pytest.mark.parametrize("aside", ["(in millions, less than usual)", "(Domestic)", "(gross profit)"])
def test_other_asides_define_nothing(aside: str) -> None:
    assert not parts_of_question(f"What was revenue {aside} in 2023?").definitions


def test_a_formula_of_another_company_is_not_worked_out() -> None:
    assert worked_out("What was Globex's EBITDA less capital expenditures in 2023?", STATEMENTS) == []


def test_a_defined_measure_is_never_worked_out_by_another_formula() -> None:
    """The quick ratio as it is defined needs a line that the report lacks."""
    defined = "Quick ratio is defined as (cash and cash equivalents) / total assets."
    assert worked_out(f"What is Acme's FY2023 quick ratio? {defined}", STATEMENTS) == []


def test_what_is_searched_for_keeps_what_the_question_is_about() -> None:
    text = "You are an advisor. I move to Berlin in May. Which documents do I need? Answer in two sentences."
    said = parts_of_question(text)
    assert said.subject == "I move to Berlin in May. Which documents do I need?"
    assert said.question == "Which documents do I need?"


@pytest.mark.parametrize(
    "text",
    [
        "gross margin",
        "How tall is the tower?",
        "x = y + z",
        "?",
        "",
        "Berlin 2024: how many visitors came?",
        "Use case 3 - the login. Which steps does it have?",
        "By 2022, how many people worked there?",
        "What database is Adobe using for its reports?",
        "Is the tower open? I mean in May.",
    ],
)
def test_a_text_without_orders_stays_as_it_is(text: str) -> None:
    assert parts_of_question(text).subject == text


def test_measures_named_side_by_side_are_all_worked_out() -> None:
    lines = worked_out("What were the gross margin and operating margin of Acme in 2023?", STATEMENTS)
    assert any("25.0 %" in line for line in lines) and any("10.0 %" in line for line in lines)


def test_amounts_of_two_years_are_no_difference() -> None:
    [row] = worked_out("How much did Acme report as total assets in 2022 and 2023?", STATEMENTS)
    assert "900" in row and "1,000" in row and "=" not in row
