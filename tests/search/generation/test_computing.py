"""What the extractive generator computes from tables, and what it refuses to."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from kb.embedding.calibration import MINILM
from search.citations.formulas import proven
from search.citations.resolve import resolve
from search.contexts import Context
from search.generation.extractive.computing import computed
from search.generation.extractive.lines import lines_named
from tests.search.contexts import context

INCOME = """\
| (in millions) | 2023 | 2022 | 2021 |
| --- | --- | --- | --- |
| Cost of sales | $ 1,900 | $ 1,750 | $ 1,600 |
| Net revenue | $ 3,200 | $ 2,900 | $ 2,500 |
| Operating loss | (250) | (100) | 40 |
| Percentage of net revenue | 41 % | 40 % | 36 % |
| Margin | 40.6 % | 39.7 % | 36.0 % |"""
TURNED = """\
| Year | Visitors |
| --- | --- |
| 2019 | 12,000 |
| 2020 | 9,000 |"""
BALANCES = """\
| (in thousands) | |
| --- | --- |
| Unrecognized tax benefits, November 3, 2007 | $ 9,889 |
| Additions | 3,861 |
| Unrecognized tax benefits, October 31, 2009 | $ 18,161 |"""
TOTALS = """\
| | 2023 | 2022 |
| --- | --- | --- |
| Cash at banks | 250 | 300 |
| Total cash | 500 | 400 |"""
QUARTERS = """\
| | Three months 2023 | Nine months 2023 | Three months 2022 | Nine months 2022 |
| --- | --- | --- | --- | --- |
| Revenue | 300 | 900 | 200 | 700 |"""
SEGMENTS = """\
| (in millions) | Three Months Ended October 29, 2023 | Nine Months Ended October 29, 2023 |
| --- | --- | --- |
| Data Center | $ 14,514 | $ 29,121 |
| Gaming | 2,856 | 7,582 |
| Total revenue | $ 18,120 | $ 38,819 |"""
GERMAN = """\
| in Tausend | 2023 | 2022 |
| --- | --- | --- |
| Umsatzerlöse | 1.250,5 | 1.000,4 |"""


def table(text: str, rank: int = 1, language: str = "en", **other: object) -> Context:
    """Return a context that is a table with a sentence for each row."""
    bounds, at = [], 0
    for line in text.split("\n"):
        bounds.append((at, at + len(line)))
        at += len(line) + 1
    made = context(rank, "x", located=False)
    return replace(made, text=text, sentence_bounds=tuple(bounds[2:]), spans=(), language=language, **other)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("By what percentage did net revenue grow from 2022 to 2023?", INCOME,
         "Net revenue, 2022 → 2023: (3,200 − 2,900) ÷ 2,900 = 10.3 %"),
        ("What was the growth rate of net revenue in 2023?", INCOME,
         "Net revenue, 2022 → 2023: (3,200 − 2,900) ÷ 2,900 = 10.3 %"),
        ("How much did cost of sales change year over year?", INCOME,
         "Cost of sales, 2022 → 2023: 1,900 − 1,750 = 150 (in millions)"),
        ("How much did the operating loss increase between 2022 and 2023?", INCOME,
         "Operating loss, 2022 → 2023: (−250) − (−100) = −150 (in millions)"),
        ("Um wie viel Prozent stieg der Umsatz von 2022 auf 2023?", INCOME,
         "Net revenue, 2022 → 2023: (3,200 − 2,900) ÷ 2,900 = 10.3 %"),
        ("De combien le chiffre d’affaires a-t-il augmenté entre 2022 et 2023 ?", INCOME,
         "Net revenue, 2022 → 2023: 3,200 − 2,900 = 300 (in millions)"),
        ("¿Cuánto crecieron los ingresos totales entre 2022 y 2023?", INCOME,
         "Net revenue, 2022 → 2023: 3,200 − 2,900 = 300 (in millions)"),
        ("What is the difference between net revenue and cost of sales in 2023?", INCOME,
         "Net revenue − Cost of sales, 2023: 3,200 − 1,900 = 1,300 (in millions)"),
        ("How much higher was net revenue than cost of sales in 2023?", INCOME,
         "Net revenue − Cost of sales, 2023: 3,200 − 1,900 = 1,300 (in millions)"),
        ("By how much did net revenue in 2023 exceed that of 2022?", INCOME,
         "Net revenue, 2022 → 2023: 3,200 − 2,900 = 300 (in millions)"),
        ("What is the difference in total cash between 2022 and 2023?", TOTALS,
         "Total cash, 2023 − 2022: 500 − 400 = 100"),
        ("What is the difference in cash at banks between 2022 and 2023?", TOTALS,
         "Cash at banks, 2022 − 2023: 300 − 250 = 50"),
        ("What was cost of sales as a percentage of net revenue in 2022?", INCOME,
         "Cost of sales ÷ Net revenue, 2022: 1,750 ÷ 2,900 = 60.3 %"),
        ("What percentage of net revenue was cost of sales in 2022?", INCOME,
         "Cost of sales ÷ Net revenue, 2022: 1,750 ÷ 2,900 = 60.3 %"),
        ("What is the ratio of net revenue to cost of sales in FY21?", INCOME,
         "Net revenue ÷ Cost of sales, 2021: 2,500 ÷ 1,600 = 1.56"),
        ("What was the average net revenue from 2021 to 2023?", INCOME,
         "⌀ Net revenue, 2021, 2022, 2023: (2,500 + 2,900 + 3,200) ÷ 3 = 2,866.7 (in millions)"),
        ("What is the sum of net revenue and cost of sales in 2021?", INCOME,
         "Net revenue + Cost of sales, 2021: 2,500 + 1,600 = 4,100 (in millions)"),
        ("By what percentage did sales grow from 2022 to 2023?", INCOME,
         "Net revenue, 2022 → 2023: (3,200 − 2,900) ÷ 2,900 = 10.3 %"),
        ("What share of revenue did the data center business generate in the three months 2023?", SEGMENTS,
         "Data Center ÷ Total revenue, 2023: 14,514 ÷ 18,120 = 80.1 %"),
        ("How much did the margin improve from 2022 to 2023?", INCOME,
         "Margin, 2022 → 2023: 40.6 % − 39.7 % = 0.9 %"),
        ("How much did the number of visitors fall from 2019 to 2020?", TURNED,
         "Visitors, 2019 → 2020: 9,000 − 12,000 = −3,000"),
        ("What percentage did unrecognized tax benefits increase from 2007 to 2009?", BALANCES,
         "Unrecognized tax benefits, 2007 → 2009: (18,161 − 9,889) ÷ 9,889 = 83.6 %"),
        ("How much did revenue change in the three months of 2023 compared with 2022?", QUARTERS,
         "Revenue, 2022 → 2023: 300 − 200 = 100"),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_computed(question: str, text: str, expected: str) -> None:
    first = computed(question, [table(text)])[0]
    assert first == f"- **{expected}** <source_1>\n"


def test_other_languages_write_figures_their_way() -> None:
    question = "Um wie viel Prozent sind die Umsatzerlöse von 2022 auf 2023 gestiegen?"
    assert computed(question, [table(GERMAN, language="de")])[0] == (
        "- **Umsatzerlöse, 2022 → 2023: (1.250,5 − 1.000,4) ÷ 1.000,4 = 25,0 %** <source_1>\n"
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was net revenue in 2023?", INCOME),
        ("By what percentage did Globex's net revenue grow from 2022 to 2023?", INCOME),
        ("Um wie viel Prozent stieg der Umsatz von Globex von 2022 auf 2023?", INCOME),
        ("Um wie viel Prozent stieg der Umsatz in Europa von 2022 auf 2023?", INCOME),
        ("By what percentage did net revenue in Europe grow from 2022 to 2023?", INCOME),
        ("By what percentage did net revenue grow from 2019 to 2023?", INCOME),
        ("By what percentage did net income grow from 2022 to 2023?", INCOME),
        ("By what percentage did the operating loss grow from 2022 to 2023?", INCOME),
        ("How much did revenue change from 2022 to 2023?", QUARTERS),
        ("What is the ratio of net revenue to employees in 2023?", INCOME),
        ("How much net revenue came with the cost of sales in 2023?", INCOME),  # no difference is asked for
        ("How much Digital Media revenue and cost of sales was there in 2023?", INCOME),  # no Spanish mean
    ],
)
def test_what_is_not_sure_is_not_computed(question: str, text: str) -> None:
    assert computed(question, [table(text)]) == []


def test_a_company_is_known_by_headings_and_the_documents_name() -> None:
    question = "By what percentage did Globex's net revenue grow from 2022 to 2023?"
    assert computed(question, [table(INCOME, headings=("Globex Corporation",))])
    assert computed(question, [table(INCOME, document_name="Globex_2023_10K.pdf")])


def test_operands_of_two_sources_are_both_cited() -> None:
    one = INCOME.replace("| Cost of sales | $ 1,900 | $ 1,750 | $ 1,600 |\n", "")
    other = "\n".join(INCOME.split("\n")[:3])
    contexts = [table(one), table(other, 2)]
    answer = "".join(computed("Cost of sales as a percentage of net revenue in 2022?", contexts))
    assert answer.startswith(
        "- **Cost of sales ÷ Net revenue, 2022: 1,750 ÷ 2,900 = 60.3 %** <source_2><source_1>"
    )
    resolved = resolve(answer, contexts, "", MINILM, lambda texts: pytest.fail("words are enough"))
    assert (resolved.removed, resolved.sources_used) == (0, [1, 2])


def test_each_operand_stays_cited_and_a_wrong_result_does_not() -> None:
    contexts = [table(INCOME)]
    answer = "".join(computed("By what percentage did net revenue grow from 2022 to 2023?", contexts))
    assert answer.endswith("- Net revenue · 2022: $ 2,900 · 2023: $ 3,200 (in millions) <source_1>\n")
    assert resolve(answer, contexts, "", MINILM, lambda texts: pytest.fail("words are enough")).removed == 0
    wrong = answer.replace("10.3 %", "11.3 %")
    resolved = resolve(wrong, contexts, "", MINILM, lambda texts: pytest.fail("a number is missing"))
    assert [verdict.outcome for verdict in resolved.verdicts] == ["unsupported", "held"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sales: (3,200 − 2,900) ÷ 2,900 = 10.3 %", {"10.3"}),
        ("Sales: 3,200 - 2,900 = 301", set()),
        ("34.6 % − 36.8 % = −2.2 %", {"2.2"}),
        ("(1 + 2 + 6) ÷ 3 = 3.0", {"3.0", "3"}),
        ("(1 + 2 + 6) ÷ 4 = 2.25", {"2.25"}),
        ("1 ÷ 0 = 5", set()),
        ("A = 5", set()),
        ("(" * 100 + "1 + 1 = 2", set()),
        ("1 + 1 = 2 and 2 + 2 = 5", {"2"}),
    ],
)
def test_a_formula_proves_its_result(text: str, expected: set[str]) -> None:
    assert proven(text, "en") == expected


def test_figures_of_german_formulas() -> None:
    assert proven("(1.250,5 − 1.000,4) ÷ 1.000,4 = 25,0 %", "de") == {"25.0"}


def test_of_nested_names_of_lines_the_longest_counts() -> None:
    named = [key for key, _ in lines_named("How do cost of revenue and net income compare with sales?")]
    assert named == ["cost", "net_income", "revenue"]
    named = [key for key, _ in lines_named("What did R&D and sales and marketing cost?")]
    assert "marketing" in named and "revenue" not in named


SHARES = """\
The following table shows our results as a percentage of revenue:

| | 2023 | 2022 |
| --- | --- | --- |
| Net revenue | 100.0 % | 100.0 % |
| Cost of sales | 59.4 | 60.3 |"""
COMPENSATION = """\
Our statements of income include stock-based compensation as follows:

| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Cost of sales | $ 38 | $ 32 |"""


def test_shares_of_revenue_are_no_amounts_of_it() -> None:
    question = "By how much did cost of sales increase from 2022 to 2023?"
    answer = computed(question, [table(SHARES), table(INCOME, 2)])
    assert answer[0].startswith("- **Cost of sales, 2022 → 2023: 1,900 − 1,750 = 150 (in millions)**")
    assert "59.4 % − 60.3 % = −0.9 %" in computed(question, [table(SHARES)])[0]


def test_statements_come_before_notes_that_call_their_rows_alike() -> None:
    question = "By how much did cost of sales increase from 2022 to 2023?"
    statement = table(INCOME, 2, headings=("Consolidated Statements of Income",))
    assert "1,900 − 1,750" in computed(question, [table(COMPENSATION), statement])[0]


def test_the_parts_of_a_table_count_before_other_tables() -> None:
    lines = INCOME.split("\n")
    first, rest = "\n".join(lines[:3]), "\n".join([*lines[:2], lines[3]])
    same = {"headings": ("Income",), "document_id": UUID(int=1)}
    other = table(INCOME.replace("1,750", "9,999").replace("2,900", "8,888"), 2, headings=("Other",))
    question = "What was cost of sales as a percentage of net revenue in 2022?"
    parts = [table(first, 1, **same), table(rest, 3, **same)]
    assert "1,750 ÷ 2,900 = 60.3 %" in computed(question, [parts[0], other, parts[1]])[0]
