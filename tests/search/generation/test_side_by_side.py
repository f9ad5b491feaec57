"""Names side by side: each is asked for alone, and told if there is something for each."""

from __future__ import annotations

import pytest

from search.generation.extractive.side_by_side import one_by_one
from tests.search.contexts import context
from tests.search.generation.test_extractive import answered, table

MARKETS = """\
| Revenue by market (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Revenue: | | |
| Data Center | $ 14,514 | $ 3,833 |
| Gaming | 2,856 | 1,574 |
| Automotive | 261 | 251 |
| Total revenue | $ 17,631 | $ 5,658 |"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What were Gaming and Data Center revenues in 2023?",
         ["What were Gaming revenues in 2023?", "What were Data Center revenues in 2023?"]),
        ("What was the revenue of Gaming, Data Center and Automotive in 2023?",
         [f"What was the revenue of {name} in 2023?" for name in ("Gaming", "Data Center", "Automotive")]),
        ("Wie hoch war der Umsatz von Gaming und Automotive?",
         ["Wie hoch war der Umsatz von Gaming?", "Wie hoch war der Umsatz von Automotive?"]),
        ("What is the difference between Gaming and Automotive revenue?", []),
        ("Did Gaming and Automotive revenue increase?", []),
        ("Which of Gaming and Automotive had the highest revenue?", []),
        ("What were revenue and net income in 2023?", []),
        ("What changed between Q2 of FY2024 and FY2023?", []),
        ("What was Gaming revenue in 2023?", []),
    ],
)  # fmt: skip
def test_a_question_for_each_name(question: str, expected: list[str]) -> None:
    assert one_by_one(question) == expected


async def test_each_is_told() -> None:
    said = await answered("What were Gaming and Data Center revenues in 2023?", [table(1, MARKETS)])
    assert said.split("\n")[:2] == [
        "- Revenue · Gaming · 2023: 2,856 (in millions) <source_1>",
        "- Revenue · Data Center · 2023: $ 14,514 (in millions) <source_1>",
    ]


async def test_where_one_of_them_is_not_there_it_is_no_name_of_two() -> None:
    rows = MARKETS.replace("Automotive", "Research and Development")
    asked = "What was Research and Development revenue in 2023?"
    assert "261" in await answered(asked, [table(1, rows), context(2, "We do research.")])
