"""Named measures and lines of statements, worked out from tables, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import pytest

from kb.embedding.base import Vectors
from kb.embedding.calibration import MINILM
from search.citations.formulas import proven
from search.citations.resolve import resolve
from search.contexts import Context
from search.generation.extractive.computing import computed
from search.generation.extractive.lines import NAMES, plain_name
from search.generation.extractive.measures import MEASURES, measure_of
from search.generation.extractive.measuring import measured
from tests.search.contexts import table_context

INCOME = """\
| (in millions) | Years ended June 30, 2023 | Years ended June 30, 2022 |
| --- | --- | --- |
| Net sales | $ 800 | $ 640 |
| Cost of sales | (600) | (512) |
| Operating income | 80 | 96 |
| Net income | $ 40 | $ 48 |"""
BALANCE = """\
| (in millions) | June 30, 2023 | June 30, 2022 |
| --- | --- | --- |
| Trade receivables, net | 160 | 150 |
| Inventories, net | 100 | 90 |
| Total current assets | 300 | 280 |
| Total assets | 1,000 | 900 |
| Total current liabilities | 250 | 200 |
| Short-term debt | 50 | 40 |
| Long-term debt, less current portion | 150 | 160 |
| Total liabilities | 500 | 420 |
| Total shareholders' equity | 500 | 480 |"""
CASH = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Depreciation and amortization | 20 | 18 |
| Net cash provided by operating activities | 90 | 85 |
| Capital expenditures | (30) | (25) |"""
REPORT = uuid4()
STATEMENTS = tuple(
    table_context(text, rank, document_name="ACME_2023_10K.pdf", document_id=REPORT, headings=(heading,))
    for rank, (text, heading) in enumerate(
        [
            (INCOME, "Consolidated Statements of Income"),
            (BALANCE, "Consolidated Balance Sheets"),
            (CASH, "Consolidated Statements of Cash Flows"),
        ],
        start=1,
    )
)


def no_model(texts: Sequence[str]) -> Vectors:
    """Fail: words are enough to check a formula."""
    pytest.fail(f"{len(texts)} texts were compared")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's gross margin in 2023?",
         "(Net sales − Cost of sales) ÷ Net sales, 2023: (800 − 600) ÷ 800 = 25.0 %"),
        ("What is the operating margin for FY2022?",
         "Operating income ÷ Net sales, 2022: 96 ÷ 640 = 15.0 %"),
        ("What is the working capital at June 30, 2023?",
         "Total current assets − Total current liabilities, June 30, 2023: 300 − 250 = 50 (in millions)"),
        ("What was the current ratio?",
         "Total current assets ÷ Total current liabilities, 2023: 300 ÷ 250 = 1.20"),
        ("What is the debt-to-equity ratio in 2023?",
         "(Short-term debt + Long-term debt, less current portion) ÷ Total shareholders' equity, 2023: "
         "(50 + 150) ÷ 500 = 0.40"),
        ("What is the return on assets in 2023?", "Net income ÷ Total assets, 2023: 40 ÷ 1,000 = 4.0 %"),
        ("What was the EBITDA margin in 2023?",
         "(Operating income + Depreciation and amortization) ÷ Net sales, 2023: (80 + 20) ÷ 800 = 12.5 %"),
        ("How high was free cash flow in 2022?",
         "Net cash provided by operating activities − Capital expenditures, 2022: 85 − 25 = 60"),
        ("What are the days sales outstanding of 2023?",
         "Trade receivables, net ÷ Net sales × 365, 2023: 160 ÷ 800 × 365 = 73.00"),
        ("How did Acme's net sales in 2023 compare to 2022?",
         "Net sales · Years ended June 30, 2022: $ 640 · Years ended June 30, 2023: $ 800"),
        ("Wie hoch war die Bruttomarge von Acme im Jahr 2023?",
         "(Net sales − Cost of sales) ÷ Net sales, 2023: (800 − 600) ÷ 800 = 25.0 %"),
        ("Wie hoch war der Nettoumsatz von Acme im Geschäftsjahr 2023?",
         "Net sales · Years ended June 30, 2023: $ 800"),
        ("Wie hoch war das Umlaufvermögen am 30. Juni 2023?",
         "Total current assets · June 30, 2023: 300"),
        ("Quels étaient les actifs courants de l’entreprise Acme fin 2023 ?",
         "Total current assets · June 30, 2023: 300"),
        ("¿A cuánto ascendieron las ventas netas de Acme en 2023?",
         "Net sales · Years ended June 30, 2023: $ 800"),
    ],
)  # fmt: skip
def test_a_measure_is_a_formula_over_cited_cells(question: str, expected: str) -> None:
    formula = measured(question, STATEMENTS)[0]
    assert expected in formula.replace("\\", "")
    assert "<source_" in formula


def test_of_several_statements_that_of_the_whole_company_counts() -> None:
    """Guarantors have a balance sheet on one page; that of the company goes over two."""
    of_guarantors = """\
| ($ in thousands) | June 30, 2023 |
| --- | --- |
| Inventories, net | 6,000 |
| Total current assets | 90,000 |
| Total current liabilities | 70,000 |"""
    head, *lines = BALANCE.splitlines()
    pages = ["\n".join([head, *lines[:4]]), "\n".join([head, lines[0], *lines[4:]])]
    places = ("Consolidated Balance Sheets of the Guarantors", *["Consolidated Balance Sheets"] * 2)
    found = [
        table_context(text, rank, document_name="ACME_2023_10K.pdf", document_id=REPORT, headings=(place,))
        for rank, (text, place) in enumerate(zip([of_guarantors, *pages], places, strict=True), start=1)
    ]
    [formula, *rows] = measured("What was the quick ratio of 2023?", found)
    assert "(300 − 100) ÷ 250 = 0.80" in formula.replace("\\", "")
    assert all("<source_1>" not in row for row in rows)


def of_acme(*texts: tuple[str, str]) -> list[Context]:
    return [
        table_context(text, rank, document_name="ACME_2023_10K.pdf", document_id=REPORT, headings=(heading,))
        for rank, (text, heading) in enumerate(texts, start=1)
    ]


def test_a_line_of_which_only_the_parts_are_told_is_their_sum() -> None:
    parts = """\
| Inventories, net | | |
| Raw materials and supplies | 30 | 25 |
| Work in process and finished goods | 70 | 65 |
| Prepaid expenses | 20 | 20 |"""
    text = BALANCE.replace("| Inventories, net | 100 | 90 |", parts)
    [formula, *rows] = measured(
        "What was the quick ratio of 2023?", of_acme((text, "Consolidated Balance Sheets"))
    )
    assert "(300 − (30 + 70)) ÷ 250 = 0.80" in formula.replace("\\", "")
    assert len(rows) == 4
    # Of one part alone it is not known whether there is another.
    fewer = text.replace("| Work in process and finished goods | 70 | 65 |\n", "")
    assert (
        measured("What was the quick ratio of 2023?", of_acme((fewer, "Consolidated Balance Sheets"))) == []
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("| Income tax expense | (15) | (12) |", "15 ÷ 60 = 25.0 %"),
        ("| Income tax expense | (15) | 12 |", "(−15) ÷ 60 = −25.0 %"),
        ("| Income tax (expense) benefit | (15) | (12) |", "(−15) ÷ 60 = −25.0 %"),
    ],
)
def test_a_tax_that_is_below_zero_in_each_year_is_a_cost(row: str, expected: str) -> None:
    text = INCOME.replace("| Net income", f"| Income before income taxes | 60 | 70 |\n{row}\n| Net income")
    found = of_acme((text, "Consolidated Statements of Income"))
    assert expected in measured("What was the effective tax rate in 2023?", found)[0].replace("\\", "")


def test_who_pays_asks_for_what_was_paid() -> None:
    cash = CASH + "\n| Dividends paid | (12) | (11) |"
    found = of_acme((cash, "Consolidated Statements of Cash Flows"))
    [row] = measured("How much did ACME pay in dividends in 2023?", found)
    assert "Dividends paid · 2023: (12)" in row


def test_a_change_is_shown_with_the_year_before() -> None:
    before, after, *_ = measured("Has the quick ratio improved in FY2023?", STATEMENTS)
    assert "2022: (280 − 90) ÷ 200 = 0.95" in before
    assert "2023: (300 − 100) ÷ 250 = 0.80" in after


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("What were the total assets in 2022?", "Total assets · June 30, 2022: 900 (in millions)"),
        ("How much was Acme's net income in 2023?", "Net income · Years ended June 30, 2023: $ 40"),
        ("Wie hoch war der Umsatz von Acme im Jahr 2022?", "Net sales · Years ended June 30, 2022: $ 640"),
        ("¿Cuáles fueron las ventas de Acme en 2022?", "Net sales · Years ended June 30, 2022: $ 640"),
    ],
)
def test_a_line_of_a_statement_is_told_as_it_stands(question: str, row: str) -> None:
    [told] = measured(question, STATEMENTS)
    assert row in told


@pytest.mark.parametrize(
    "question",
    [
        "What was Globex's gross margin in 2023?",
        "What was the gross margin in 2019?",
        "What is the interest coverage in 2023?",
        "Why did net income fall in 2023?",
        "Who is the president?",
    ],
)
def test_another_company_or_year_or_a_missing_line_is_refused(question: str) -> None:
    assert measured(question, STATEMENTS) == []


def test_what_a_report_states_itself_is_not_computed() -> None:
    stated = INCOME + "\n| Gross margin | 26.1 % | 21.0 % |"
    context = table_context(stated, document_name="ACME.pdf", headings=("Statements of Income",))
    assert measured("What was the gross margin in 2023?", [context]) == []


def test_quarters_give_no_measure_of_a_year() -> None:
    quarters = INCOME.replace("Years ended June 30,", "Three months ended June 30,")
    contexts = [table_context(quarters, document_id=REPORT), STATEMENTS[1]]
    assert measured("What is the return on assets in 2023?", contexts) == []


def test_two_columns_of_a_year_are_told_apart_by_the_question_or_refused() -> None:
    text = "| | October 29, 2023 | January 29, 2023 |\n| --- | --- | --- |\n| Total assets | 54 | 41 |"
    context = table_context(text, headings=("Balance Sheets",))
    assert measured("What were total assets in 2023?", [context]) == []
    [told] = measured("What were total assets on October 29, 2023?", [context])
    assert "54" in told


def test_the_verifier_proves_each_formula() -> None:
    question = "What is the operating margin for 2022?"
    raw = "".join(measured(question, STATEMENTS))
    resolved = resolve(raw, STATEMENTS, question, MINILM, no_model)
    assert resolved.removed == 0
    assert resolved.sources_used == [1]
    wrong = raw.replace("15.0 %", "16.0 %")
    assert resolve(wrong, STATEMENTS, question, MINILM, no_model).removed == 1


def test_days_of_a_year_need_no_source() -> None:
    assert proven("160 ÷ 800 × 365 = 73.00", "en") == {"365", "73.00"}
    assert "365" not in proven("365 ÷ 800 = 0.46", "en")


def test_every_measure_is_found_by_its_name_and_has_lines() -> None:
    for name in ("gross margin", "quick ratio", "DSO", "free cash flow conversion", "EBITDA"):
        named = measure_of(f"What is the {name}?")
        assert named is not None
        assert named[1][0].casefold() == name.casefold()
    assert all(measure.ways for measure in MEASURES)
    assert any(name.fullmatch(plain_name("Receivables, net (a)")) for name in NAMES["receivables"])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("By how much did cost of sales rise from 2022 to 2023?", "600 − 512 = 88"),
        ("By what percentage did cost of sales rise from 2022 to 2023?", "(600 − 512) ÷ 512 = 17.2 %"),
        ("What percentage of net sales was cost of sales in 2023?", "600 ÷ 800 = 75.0 %"),
    ],
)
def test_costs_in_parentheses_are_no_negative_costs(question: str, expected: str) -> None:
    formula = computed(question, STATEMENTS)[0].replace("\\", "")
    assert expected in formula


@pytest.mark.parametrize(
    ("language", "rows", "question", "expected"),
    [
        (
            "de",
            "| Eigenkapital | 68,2 | 61,4 |\n| Bilanzsumme | 156,8 | 151,5 |",
            "Wie hoch war die Eigenkapitalquote 2024?",
            "Eigenkapital ÷ Bilanzsumme, 2024: 68,2 ÷ 156,8 = 43,5 %",
        ),
        (
            "de",
            "| Umsatzerlöse | 186,4 | 174,9 |\n| Betriebsergebnis (EBIT) | 18,6 | 11,5 |",
            "Wie hoch war die EBIT-Marge 2024?",
            "Betriebsergebnis (EBIT) ÷ Umsatzerlöse, 2024: 18,6 ÷ 186,4 = 10,0 %",
        ),
        (
            "es",
            "| Activo corriente | 300,0 | 280,0 |\n| Pasivo corriente | 250,0 | 200,0 |",
            "¿Cuál fue el capital de trabajo en 2024?",
            "Activo corriente − Pasivo corriente, 2024: 300,0 − 250,0 = 50,0",
        ),
    ],
)
def test_statements_have_their_lines_in_other_languages(
    language: str, rows: str, question: str, expected: str
) -> None:
    statement = table_context(f"| Position | 2024 | 2023 |\n| --- | --- | --- |\n{rows}", language=language)
    assert expected in measured(question, [statement])[0]
