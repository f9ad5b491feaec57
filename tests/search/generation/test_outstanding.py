"""The row that has the most or the least of what a question names, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.contexts import Context
from search.generation.extractive.outstanding import best_rows, outstanding
from search.generation.extractive.outstanding.superlatives import superlatives_of
from search.question_language import in_language_of
from tests.search.generation.test_computing import table

CITIES = """\
| City | Country | Inhabitants | Area (km²) | Founded | Harvest |
| --- | --- | --- | --- | --- | --- |
| Aldhaven | Norway | 120,400 | 88 | 1204 | 3 t |
| Brightmoor | Norway | 98,250 | 140 | 1511 | 500 kg |
| Castor | Spain | 310,000 | 201 | 1890 | 2 t |
| Total | | 528,650 | 429 | | |"""
PARTIES = """\
| Ward | Turnout (%) | Waiting time |
| --- | --- | --- |
| Northgate | 44.3 | 12 |
| Old Town | 54.0 | 9 |
| Quayside | 48.4 | 15 |"""
MACHINES = """\
| | Trek 700 | Sunbrick | Pico 600 |
| --- | --- | --- | --- |
| Weight | 8.2 kg | 10.9 kg | 6.4 kg |
| Noise, dB(A) | 44 | 39 | 71¹ |
| Guarantee | 5 years | 18 months | 2 years |"""
CATALOGUE = """\
| Product | Price |
| --- | --- |
| Lamp | $ 19.90 |
| Desk | 199.00 |"""
SALES = """\
| Lamp | Sold | Price |
| --- | --- | --- |
| Desk lamp | 2024-03-01 | 40 |
| Oil lamp | 2024-11-02 | n/a |
| Street lamp | 2023-12-31 | 15 |"""
REPURCHASES = """\
| Month | Average Price Paid per Share | Dollar Value of Shares that May Yet Be Purchased |
| --- | --- | --- |
| August | $ 29.10 | $91,614,067 |
| September | $ 28.35 | $90,102,511 |
| October | $ 27.99 | $89,004,000 |"""
PARKS = """\
| City | Parks |
| --- | --- |
| Castor | 1900 |
| Dunmere | 1850 |"""
SEGMENTS = """\
| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Compute | $ 3,816 | $ 14,514 |
| Gaming | 2,856 | 1,574 |
| Automotive | 261 | 251 |
| Total revenue | $ 6,933 | $ 16,339 |
| Cost of sales | 9,000 | 9,000 |"""
SHARES = """\
| | 2023 |
| --- | --- |
| Compute | 20 % |
| Gaming | 5 % |
| Automotive | 25 % |
| Others | 50 % |"""
WITH_SHARES = """\
| (in millions) | 2023 | % change |
| --- | --- | --- |
| Compute | $ 3,816 | 12 % |
| Percentage of total revenue | 55 % |  |
| Gaming | 2,856 | (3) % |
| Percentage of total revenue | 41 % |  |
| Automotive | 261 | 4 % |
| Percentage of total revenue | 4 % |  |
| Total revenue | $ 6,933 | 5 % |"""
COLUMNS = """\
| (in millions) | Compute | Gaming | Total |
| --- | --- | --- | --- |
| Fiscal 2023 |  |  |  |
| Revenue | $ 3,816 | $ 2,856 | $ 6,672 |
| Gross profit | 1,200 | 1,800 | 3,000 |
| Fiscal 2022 |  |  |  |
| Revenue | $ 1,100 | $ 1,574 | $ 2,674 |"""
OLDEST_FIRST = """\
| | Compute | Gaming | Total |
| --- | --- | --- | --- |
| Fiscal 2022 |  |  |  |
| Revenue | $ 1,100 | $ 1,574 | $ 2,674 |
| Fiscal 2023 |  |  |  |
| Revenue | $ 3,816 | $ 2,856 | $ 6,672 |"""
BALANCE = """\
| | 2023 |
| --- | --- |
| Cash | 300 |
| Stocks | 200 |
| Total current assets | 500 |
| Goodwill | 400 |
| Total assets | 900 |"""
YEARS = """\
| (in millions) | 2023 | 2022 | 2021 |
| --- | --- | --- | --- |
| Net revenue | 320 | 250 | 290 |"""
GERMAN = """\
| Stadt | Einwohner | Preis |
| --- | --- | --- |
| Altburg | 1.250 | 2,50 |
| Neustadt | 980 | 3,10 |"""


def decisive(text: str, **other: object) -> Context:
    return replace(table(text, **other), is_decisive=True)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Which city has the most inhabitants?", CITIES, "Castor · Inhabitants: 310,000"),
        ("Which city has the fewest inhabitants?", CITIES, "Brightmoor · Inhabitants: 98,250"),
        ("What is the largest city by area?", CITIES, "Castor · Area (km²): 201"),
        ("Which city in Norway has the most inhabitants?", CITIES,
         "Aldhaven · Country: Norway · Inhabitants: 120,400"),
        ("What is the cheapest product?", CATALOGUE, "Lamp · Price: $ 19.90"),
        ("Which is the most expensive product?", CATALOGUE, "Desk · Price: 199.00"),
        ("Which product is the largest?", CATALOGUE, "Desk · Price: 199.00"),
        ("Which is the oldest city?", CITIES, "Aldhaven · Founded: 1204"),
        ("Which city was founded last?", CITIES, "Castor · Founded: 1890"),
        ("Which lamp was sold most recently?", SALES, "Oil lamp · Sold: 2024-11-02"),
        ("Which lamp was sold for the highest price?", SALES, "Desk lamp · Price: 40"),
        ("Which city has the most parks?", PARKS, "Castor · Parks: 1900"),
        ("What was the first lamp sold?", SALES, "Street lamp · Sold: 2023-12-31"),
        ("Which segment had the highest revenue in 2022?", SEGMENTS,
         "Compute · 2022: $ 14,514 (in millions)"),
        ("Which segment had the lowest revenue?", SEGMENTS, "Automotive · 2023: 261 (in millions)"),
        ("Which segment had the largest share in 2023?", SHARES, "Others · 2023: 50 %"),
        ("Which reportable segment had the highest revenue in FY2023?", WITH_SHARES,
         "Compute · 2023: $ 3,816 (in millions)"),
        ("Which of the segments had the lowest sales in fiscal 2023?", WITH_SHARES,
         "Automotive · 2023: 261 (in millions)"),
        ("Which segment had the highest gross profit in FY2023?", COLUMNS,
         "Fiscal 2023 · Gross profit · Gaming: 1,800 (in millions)"),
        ("Which segment had the highest revenue?", OLDEST_FIRST, "Fiscal 2023 · Revenue · Compute: $ 3,816"),
        ("Which segment had the highest revenue in fiscal 2022?", COLUMNS,
         "Fiscal 2022 · Revenue · Gaming: $ 1,574 (in millions)"),
        ("In which year was revenue lowest?", YEARS, "Net revenue · 2022: 250 (in millions)"),
        ("In which year were sales the highest?", YEARS, "Net revenue · 2023: 320 (in millions)"),
    ],
)  # fmt: skip
def test_the_row_with_the_most_is_told_first(question: str, text: str, expected: str) -> None:
    first, *others = outstanding(question, [decisive(text, headings=("Segments of the company",))])
    assert first == f"- **{expected}** <source_1>\n"
    assert all("**" not in other for other in others)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Which ward had the best turnout?", PARTIES, "Old Town · Turnout (%): 54.0"),
        ("Which ward had the worst waiting time?", PARTIES, "Quayside · Waiting time: 15"),
        ("Which ward is the best?", PARTIES, ""),
        ("Which of the three is the lightest?", MACHINES, "Weight · Pico 600: 6.4 kg"),
        ("Which model makes the least noise?", MACHINES, "Noise, dB(A) · Sunbrick: 39"),
        ("Which model has the longest guarantee?", MACHINES, ""),
        ("Which model has the most sockets?", MACHINES, ""),
    ],
)
def test_the_best_and_columns_that_are_things(question: str, text: str, expected: str) -> None:
    """What is best is so by something; of waiting the worst has most; two units are not compared."""
    first, *_ = [*outstanding(question, [decisive(text)]), ""]
    assert first == (f"- **{expected}** <source_1>\n" if expected else "")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Welche Stadt hat die meisten Einwohner?", "Altburg"),
        ("Welches ist die teuerste Stadt?", "Neustadt"),
        ("Welche Stadt hat den niedrigsten Preis?", "Altburg"),
    ],
)
def test_german_tables_are_read_as_such(question: str, expected: str) -> None:
    [first, _] = outstanding(question, in_language_of(question, [decisive(GERMAN, language=None)]))
    assert first.startswith(f"- **{expected} ")


def test_an_italian_table_is_read_as_such() -> None:
    text = (
        "| Corso | Quota | Posti |\n| --- | --- | --- |\n| Ceramica | 210 € | 8 |\n"
        "| Smartphone senza paura | 45 € | 15 |"
    )
    [first, _] = outstanding("Qual è il corso più economico?", [decisive(text, language="it")])
    assert first.startswith("- **Smartphone senza paura ")


def test_a_row_behind_a_code_is_told_by_its_name() -> None:
    rows = "\n".join(["| T01 | Tai chi | Ann Bell | £40 |", "| S02 | Spanish | Eva Ruiz | £120 |"])
    text = f"| Code | Course | Tutor | Fee |\n| --- | --- | --- | --- |\n{rows}"
    [first, _] = outstanding("Which is the cheapest course?", [decisive(text)])
    assert first == "- **T01 · Course: Tai chi · Fee: £40** <source_1>\n"
    [first, _] = outstanding("Which course has the highest fee?", [decisive(text)])
    assert first == "- **S02 · Course: Spanish · Fee: £120** <source_1>\n"


def test_a_row_behind_a_kind_is_told_by_its_name() -> None:
    wines = [("Red", "Vela", 18), ("Red", "Llama Roja", 68), ("White", "Lourido", 23), ("White", "Sal", 27)]
    rows = "\n".join(f"| {kind} | {name} | {price / 5} | {price} |" for kind, name, price in wines)
    text = f"| Section | Wine | Glass (€) | Bottle (€) |\n| --- | --- | --- | --- |\n{rows}"
    [first, _] = outstanding("Which is the most expensive bottle of wine?", [decisive(text)])
    assert first == "- **Red · Wine: Llama Roja · Bottle (€): 68** <source_1>\n"
    three = "\n".join(text.splitlines()[:5])
    [first, _] = outstanding("Which is the most expensive bottle of wine?", [decisive(three)])
    assert first == "- **Red · Bottle (€): 68** <source_1>\n"


@pytest.mark.parametrize(
    ("question", "is_most"),
    [
        ("Quelle ville a le plus d'habitants ?", True),
        ("Quel est le moins cher ?", False),
        ("¿Qué ciudad tiene más habitantes?", True),
        ("¿Cuál es el producto más barato?", False),
        ("¿Es más barato que Castor?", None),
        ("Qual è il corso più economico?", False),
        ("¿Cuál es la botella que más cuesta?", True),
        ("Quale corso costa di meno?", False),
        ("Quel cours coûte le plus ?", True),
        ("Quale città ha più abitanti?", True),
        ("È più caro di Castore?", None),
        ("Chi era qui prima?", None),
        ("Qual é o produto mais caro?", True),
        ("É mais barato do que Castor?", None),
        ("Welke stad heeft de meeste inwoners?", True),
        ("Wat is de goedkoopste kamer?", False),
        ("What does Amazon Prime cost?", None),
        ("Which city has at least 3 parks?", None),
        ("How many inhabitants has Castor?", None),
    ],
)
def test_seven_languages_ask_for_the_most(question: str, is_most: bool | None) -> None:
    asked = superlatives_of(question)
    assert [each.is_most for each in asked] == ([] if is_most is None else [is_most])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which harbour has the most inhabitants?", CITIES),
        ("Which city in Peru has the most inhabitants?", CITIES),
        ("Which city has the largest harvest?", CITIES),  # in tons and kilograms
        ("Which is the largest city?", CITIES),  # by what?
        ("Which segment had the highest profit in 2022?", SEGMENTS),
        ("Which segment had the highest revenue in 2020?", SEGMENTS),
        ("Which region had the highest revenue in 2022?", SEGMENTS),
        ("Which segment had the highest revenue in 2022?", SEGMENTS.replace("1,574", "1,274")),
        ("In which year was net income lowest?", YEARS),
        ("Which segment had the highest revenue in FY2023?", COLUMNS.replace("6,672", "7,672")),
        ("Which segment had the highest operating income in FY2023?", COLUMNS),
        ("Which segment had the highest revenue in FY2021?", COLUMNS),
        (
            "Which segment had the largest share in 2023?",
            SHARES.replace("50", "40"),
        ),  # Automotive is no total
        ("What was the largest asset in 2023?", BALANCE),  # not the largest current one
        ("What was the highest price that a share reached?", REPURCHASES),  # which column?
    ],
)
def test_what_is_not_sure_is_refused(question: str, text: str) -> None:
    assert outstanding(question, [decisive(text, headings=("Segments of the company",))]) == []


def test_of_a_table_that_was_not_read_whole_nothing_is_told() -> None:
    assert outstanding("Which city has the most inhabitants?", [table(CITIES)]) == []


def test_what_has_equally_much_is_told_together() -> None:
    alike = CATALOGUE.replace("19.90", "199.00")
    told = outstanding("Which is the most expensive product?", [decisive(alike)])
    assert [each.count("**") for each in told] == [2, 2]
    (asked,) = superlatives_of("Which is the most expensive product?")
    many = "\n".join([*alike.split("\n")[:2], *(f"| Lamp {number} | 5.00 |" for number in range(9))])
    assert best_rows(asked, [decisive(many)]) == []
