"""What has grown or fallen most: of parts of a total, and of changes that a table states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.generation.extractive.outstanding import best_rows, outstanding
from search.generation.extractive.outstanding.superlatives import superlatives_of
from tests.search.generation.test_outstanding import decisive

REGIONS = """\
Revenue by geographic region was as follows:

| (in millions) | 2022 | 2021 | 2020 |
| --- | --- | --- | --- |
| Americas | $ 10,251 | $ 8,996 | $ 7,454 |
| Percentage of total revenue | 58 % | 57 % | 58 % |
| EMEA | 4,593 | 4,252 | 3,400 |
| Percentage of total revenue | 26 % | 27 % | 26 % |
| APAC | 2,762 | 2,837 | 2,014 |
| Percentage of total revenue | 16 % | 16 % | 16 % |
| Total revenue | $ 17,606 | $ 16,085 | $ 12,868 |"""
NESTED = """\
Revenue by geographic area was as follows:

| (in millions) | 2022 | 2021 |
| --- | --- | --- |
| Americas: |  |  |
| United States | 900 | 700 |
| Other | 100 | 50 |
| Total Americas | 1,000 | 750 |
| EMEA | 500 | 490 |
| Revenue | 1,500 | 1,240 |"""
KINDS = """\
Revenue by segment and product category was as follows:

| | 2023 | 2022 |
| --- | --- | --- |
| Revenue by reportable segment |  |  |
| Domestic | 120 | 100 |
| International | 30 | 20 |
| Total revenue | 150 | 120 |
| Revenue by product category |  |  |
| Domestic: |  |  |
| Games | 50 | 40 |
| Phones | 70 | 60 |
| Total Domestic revenue | 120 | 100 |"""
STATED = """\
Revenue mix and comparable sales changes by category were as follows:

| | Revenue Mix 2023 | Revenue Mix 2022 | Comparable Sales 2023 | Comparable Sales 2022 |
| --- | --- | --- | --- | --- |
| Phones | 41 % | 42 % | (6.4)% | (16.6)% |
| Appliances | 16 % | 17 % | (16.1)% | (1.2)% |
| Games | 43 % | 41 % | 9.0 % | (9.2)% |
| Total | 100 % | 100 % | (6.3)% | (12.7)% |"""
GROWTH = """\
| Product | Price | Growth |
| --- | --- | --- |
| Lamp | 20 | 7 |
| Desk | 199 | 3 |"""


def told(question: str, text: str, heading: str = "Sales", **other: object) -> list[str]:
    return outstanding(question, [decisive(text, headings=(heading,), **other)])


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Which region had the highest revenue growth in 2022?", REGIONS,
         "Americas, 2021 → 2022: (10,251 − 8,996) ÷ 8,996 = 14.0 %"),
        ("Which region grew fastest between 2020 and 2022?", REGIONS,
         "Americas, 2020 → 2022: (10,251 − 7,454) ÷ 7,454 = 37.5 %"),
        ("Which region grew the least in 2021?", REGIONS,
         "Americas, 2020 → 2021: (8,996 − 7,454) ÷ 7,454 = 20.7 %"),
        ("Which territory saw the largest decline in sales year over year?", REGIONS,
         "APAC, 2021 → 2022: (2,762 − 2,837) ÷ 2,837 = −2.6 %"),
        ("Which area grew the most in 2022?", NESTED,
         "Total Americas, 2021 → 2022: (1,000 − 750) ÷ 750 = 33.3 %"),
        ("Which segment grew most?", KINDS, "International, 2022 → 2023: (30 − 20) ÷ 20 = 50.0 %"),
        ("Which domestic product category grew most?", KINDS, "Games, 2022 → 2023: (50 − 40) ÷ 40 = 25.0 %"),
        ("Which category had the largest decline in comparable sales in 2023?", STATED,
         "Appliances · Comparable Sales 2023: (16.1)%"),
        ("Which category performed the best in 2023?", STATED, "Games · Comparable Sales 2023: 9.0 %"),
        ("Which product has the highest growth?", GROWTH, "Lamp · Growth: 7"),
    ],
)  # fmt: skip
def test_what_has_changed_most_is_told_first(question: str, text: str, expected: str) -> None:
    first, *_ = told(question, text)
    assert first == f"- **{expected}** <source_1>\n"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which region had the largest decline in 2021?", REGIONS),  # all grew
        ("Which region grew fastest in 2020?", REGIONS),  # nothing is known of 2019
        ("Which product category grew the most?", REGIONS),  # these are regions
        ("Which product category grew the most?", KINDS),  # in which market?
        ("Which region grew fastest in 2022?", REGIONS.replace("4,593", "4,693")),  # they do not add up
        ("Which region of Peru grew fastest?", REGIONS),
        ("Which category had the largest increase in profit in 2023?", STATED),
    ],
)
def test_what_is_not_sure_is_refused(question: str, text: str) -> None:
    assert told(question, text) == []


def test_what_is_left_of_leaders_is_not_told() -> None:
    first, *_ = told("Which region grew the most in 2022?", REGIONS.replace("| Americas", "| Americas."))
    assert first.startswith("- **Americas, 2021")


def test_changes_of_a_segment_are_not_those_of_the_whole() -> None:
    heading = "International Segment"
    assert told("Which category performed best in 2023?", STATED, heading) == []
    assert "Games" in told("Which international category performed best in 2023?", STATED, heading)[0]


def test_the_name_of_who_reports_is_no_condition() -> None:
    question = "Which Northwind region grew the most in 2022?"
    assert told(question, REGIONS) == []
    assert "Americas" in told(question, REGIONS, opening="Northwind Traders, Inc. Annual Report")[0]


def test_what_proves_that_no_row_is_missing_is_named() -> None:
    lines = REGIONS.split("\n")
    first, rest = (
        decisive("\n".join(some), headings=("Sales",)) for some in (lines[:-1], [*lines[2:4], lines[-1]])
    )
    asked, *_ = superlatives_of("Which region grew the most in 2022?")
    best, *_ = best_rows(asked, [replace(first, rank=4), replace(rest, rank=5)])
    assert (best.name, best.proof) == ("Americas", frozenset([4, 5]))
