"""Questions that want a reason: how they are known, and that figures alone do not answer them."""

from __future__ import annotations

import pytest

from search.generation.extractive.question_parts import parts_of_question
from search.generation.extractive.reasons import asks_why, tells_why
from tests.search.contexts import context
from tests.search.generation.test_extractive import answered, table

MARGINS = """\
| (in millions) | 2022 | 2021 |
| --- | --- | --- |
| Provision for income taxes | 1,252 | 883 |
| Income before income taxes | 6,008 | 5,705 |"""
REASON = "The effective tax rate increased in 2022 primarily due to lower tax benefits of compensation."


@pytest.mark.parametrize(
    "question",
    [
        "Why did the effective tax rate increase?",
        "What drove the growth of revenue?",
        "What was behind the rise in interest income?",
        "What are the main reasons for the higher cost of sales?",
        "What is the decrease in receivables attributed to?",
        "To what does the company attribute its lower margin?",
        "Woran lag der Rückgang des Umsatzes?",
        "Was sind die Gründe für den Anstieg?",
        "Worauf ist der Verlust zurückzuführen?",
        "Quelles sont les raisons de la baisse ?",
        "À quoi la hausse est-elle due ?",
        "¿A qué se debe el aumento?",
    ],
)
def test_what_asks_for_a_reason(question: str) -> None:
    assert asks_why(question)


@pytest.mark.parametrize(
    "question",
    [
        "What was the effective tax rate in 2022?",
        "Has the quick ratio improved in 2023? If it is not useful here, then state that and explain why.",
        "Which share of revenue is attributable to Europe?",
        "Wie hoch war der Umsatz?",
    ],
)
def test_what_asks_for_none(question: str) -> None:
    assert not asks_why(question)


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        (REASON, True),
        ("The decline was attributable to the automotive market.", True),
        ("The change reflects higher prices.", True),
        ("Der Rückgang ist auf den Wechselkurs zurückzuführen.", True),
        ("The effective tax rate was 20.8 % in 2022.", False),
    ],
)
def test_what_tells_a_reason(text: str, tells: bool) -> None:
    assert tells_why(text) is tells


def test_a_condition_is_no_order() -> None:
    """“If …, then explain why.” orders; “If I return it late, then I pay.” is part of what is asked."""
    ordered = "Has it improved? If it is not useful here, then state that and explain why."
    assert parts_of_question(ordered).subject == "Has it improved?"
    said = "If I return a lamp late, then I pay a fee. How much is it?"
    assert parts_of_question(said).subject == said


async def test_a_reason_is_told_and_no_formula() -> None:
    contexts = [table(1, MARGINS), context(2, REASON)]
    assert REASON in await answered("Why did the effective tax rate increase in 2022?", contexts)
    assert "÷" in await answered("What was the effective tax rate in 2022?", contexts)


async def test_where_no_reason_is_found_the_figures_are_told() -> None:
    said = await answered("Why did the effective tax rate increase from 2021 to 2022?", [table(1, MARGINS)])
    assert "1,252" in said
