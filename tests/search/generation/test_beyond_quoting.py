"""What no quotation answers."""

from __future__ import annotations

import pytest

from search.generation.extractive.beyond_quoting import names_none, wants_analysis
from search.generation.extractive.expected import lacks_count


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which datasets did they use?", "Experiments on two public datasets show that it is better."),
        ("What languages do the screens have?", "The screens offer various languages."),
        ("Which documents do I need?", "All documents must be signed."),
    ],
)
def test_that_there_are_some_does_not_say_which(question: str, text: str) -> None:
    assert names_none(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which datasets did they use?", "We use the Europarl and MultiUN datasets."),
        ("Which datasets did they use?", "We use two datasets: Europarl and MultiUN."),
        ("Which models were evaluated?", "We evaluated three models, BERT and GPT."),
        ("What baselines do they compare with?", "We find that pivoting is the strongest baseline."),
        ("Which documents do I need?", "Bring your passport and the documents of the car."),
        ("Which documents do I need?", "Bring your passport."),
        ("How many datasets did they use?", "They use two public datasets."),
    ],
)
def test_what_names_them_may_answer(question: str, text: str) -> None:
    assert not names_none(question, text)


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("Compare the revenue of both years.", True),
        ("In the report, compare the inventory with the strategy.", True),
        ("Please discuss the risks.", True),
        ("Vergleiche den Umsatz beider Jahre.", True),
        ("How does the revenue compare with that of 2021?", False),
        ("What did they compare it with?", False),
    ],
)
def test_orders_to_analyse(question: str, *, wants: bool) -> None:
    assert wants_analysis(question) is wants


def test_who_asks_for_figures_is_told_some() -> None:
    question = "What were the sales figures of the gaming segment?"
    assert lacks_count(question, "The increase in the third quarter of fiscal year 2024 reflects demand.")
    assert not lacks_count(question, "Gaming revenue was $2,856 million in 2024.")
