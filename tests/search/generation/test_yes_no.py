"""Yes and no before their evidence: where it is sure, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from search.contexts import Context
from search.generation.extractive.measuring import measured
from search.generation.extractive.statements import Statement
from search.generation.extractive.yes_no import (
    Direction,
    answer_by_change,
    answer_by_statement,
    direction_of,
    wants_yes_or_no,
    with_answer,
)
from tests.search.contexts import context
from tests.search.generation.test_computing import table

BALANCE = """\
| (in millions) | 2021 | 2020 |
| --- | --- | --- |
| Inventories | 9,059 | 8,020 |
| Total current assets | 59,693 | 35,067 |
| Total current liabilities | 42,671 | 25,920 |"""

GOODWILL = """\
| (in millions) | 2022 | 2021 | 2020 |
| --- | --- | --- | --- |
| Goodwill | 300 | 200 | 250 |"""
PAID = """\
| (in millions) | 2022 | 2021 |
| --- | --- | --- |
| Capital expenditures | (150) | (100) |"""


def said(text: str, language: str = "en", **other: object) -> Statement:
    """Return a statement of a context that says nothing else."""
    return Statement(replace(context(1, text, located=False), language=language, **other), 0, text)


@pytest.mark.parametrize(
    "question",
    [
        "Did net income increase?",
        "Is there a pool?",
        "Hat Adobe im letzten Jahr mehr verdient?",
        "Est-ce que le prix baisse ?",
        "¿Hay piscina?",
    ],
)
def test_what_wants_a_yes_or_no(question: str) -> None:
    assert wants_yes_or_no(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is it?",
        "Was war der Umsatz?",
        "Was bedeutet das?",
        "Did it rise or fall?",
        "How is the island?",
        "Wie hat er das gemacht?",
    ],
)
def test_what_wants_none(question: str) -> None:
    assert not wants_yes_or_no(question)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Did net income increase?", "Net income increased 17.8 % to $340.8 million.", True),
        ("Did net income fall?", "Net income increased 17.8 % to $340.8 million.", False),
        ("Did net income change?", "Net income increased 17.8 % to $340.8 million.", True),
        ("Did net income increase?", "Net income did not increase.", None),
        ("Did net income increase?", "Net sales increased, and net income decreased.", None),
        ("Did net income increase in 2021?", "Net income increased in 2022.", None),
        ("Is the lamp waterproof?", "The lamp is waterproof to 2 m.", True),
        ("Is the lamp waterproof?", "The lamp is not waterproof.", False),
        ("Is the red lamp waterproof?", "The lamp is waterproof to 2 m.", None),
        ("Isn't the lamp waterproof?", "The lamp is waterproof to 2 m.", None),
        ("Is the lamp waterproof?", "Check whether the lamp is waterproof.", None),
        ("Is the deposit refunded?", "The deposit is refunded if nothing is broken.", None),
        ("Did net income fall?", "Net income could fall.", None),
    ],
)
def test_a_sentence_tells_it_or_does_not(question: str, text: str, expected: bool | None) -> None:
    assert answer_by_statement(question, said(text)) is expected


def test_what_a_sentence_is_about_may_stand_above_it() -> None:
    statement = said("It increased to 5 million.", headings=("Acme", "Net income"))
    assert answer_by_statement("Did Acme's net income increase to 5 million?", statement) is True


def test_figures_of_two_years_tell_it() -> None:
    income = table(BALANCE)
    assert _first("Did inventories grow between 2020 and 2021?", income).startswith("- **Yes** – Inventories")
    assert _first("Did inventories decline in 2021?", income).startswith("- **No** – Inventories")
    assert _first("Did the current ratio improve in 2021?", income).startswith("- **Yes** – **Total current")


def test_a_choice_or_an_amount_gets_no_yes() -> None:
    income = table(BALANCE)
    assert _first("What were the inventories in 2021?", income).startswith("- Inventories")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Did it grow in 2021?", True),
        ("Did it grow by 10 % in 2021?", None),
        ("Did it grow by $5 million in 2021?", None),
        ("Did it grow more in 2021 than in 2020?", None),
        ("Did it not grow in 2021?", None),
    ],
)
def test_that_it_grew_does_not_say_how_much(question: str, expected: bool | None) -> None:
    assert answer_by_change(question, Decimal(100), Decimal(101)) is expected


def test_each_year_has_to_tell_it() -> None:
    goodwill = table(GOODWILL)
    assert _first("Did goodwill increase in 2021 and 2022?", goodwill).startswith("- **Yes** – Goodwill")
    assert _first("Did goodwill increase in 2020, 2021 and 2022?", goodwill).startswith("- Goodwill")


def test_what_is_written_with_a_minus_grows_by_its_amount() -> None:
    paid = table(PAID)
    assert _first("Did capital expenditures increase in 2022?", paid).startswith("- **Yes** – Capital")


def test_whether_a_line_is_better_high_is_not_known() -> None:
    income = table(BALANCE)
    assert _first("Did inventories improve in 2021?", income).startswith("- Inventories")


def test_it_is_told_in_the_language_of_the_question() -> None:
    assert with_answer("Ist die Lampe wasserdicht oder was ist mit ihr?", True, "x") == "**Ja** – x"
    assert with_answer("Is the lamp waterproof?", False, "x") == "**No** – x"
    assert with_answer("Is the lamp waterproof?", None, "x") == "x"


def _first(question: str, income: Context) -> str:
    return measured(question, [income])[0]


def test_a_german_case_is_nothing_that_falls() -> None:
    assert direction_of("Was gilt im Falle eines Schadens, und was im Fall des Verlusts?") is None
    assert direction_of("Der Umsatz fiel im Jahr darauf.", "de") is Direction.DOWN
    assert direction_of("Did revenue fall?") is Direction.DOWN
