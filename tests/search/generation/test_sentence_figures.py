"""Figures of sentences, with their years and units, and what is computed from them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.contexts import Context
from search.generation.extractive.computing import computed
from search.generation.extractive.sentence_figures import sentence_figures
from tests.search.contexts import context

AMORTIZATION = (
    "Amortization expense, related to continuing operations, was $7.4 million and $9.3 million in fiscal"
    " 2009 and 2008, respectively."
)


def saying(text: str, language: str = "en") -> Context:
    """Return a context of one sentence."""
    return replace(context(1, text, located=False), language=language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (AMORTIZATION, {("2009", "7.4", "in millions"), ("2008", "9.3", "in millions")}),
        ("Net sales were $10.2 billion in 2022, compared with $8.6 billion in 2021.",
         {("2022", "10.2", "in billions"), ("2021", "8.6", "in billions")}),
        ("The margin was 36.8 % in 2021 and 34.6 % in 2022.", {("2021", "36.8", ""), ("2022", "34.6", "")}),
        ("Cost from continuing operations was $7.4 million, $9.3 million and $9 million in 2009, 2008, 2007.",
         {("2009", "7.4", "in millions"), ("2008", "9.3", "in millions"), ("2007", "9", "in millions")}),
        ("Net sales rose to $10.2 billion in 2022.", {("2022", "10.2", "in billions")}),
        ("Net sales increased 18.3% to $10.2 billion in fiscal 2022.", set()),
        ("Net sales increased $1.2 billion in 2022 and $0.8 billion in 2021.", set()),
        ("Net sales grew 18.3 % in 2022 and 5 % in 2021.", set()),
        ("Net sales were up $1.2 billion in 2022 and $0.8 billion in 2021.", set()),
        ("Net sales were $10.2 billion in 2022 or in 2023.", set()),
        ("In 2022 and 2021.", set()),
    ],
)  # fmt: skip
def test_each_amount_has_a_year_of_its_own_or_none_is_taken(
    text: str, expected: set[tuple[str, str, str]]
) -> None:
    found = sentence_figures([saying(text)])
    assert {(*fact.years, fact.figure.text, fact.row.unit) for fact in found} == expected


def test_the_subject_names_what_is_measured() -> None:
    assert {fact.name for fact in sentence_figures([saying(AMORTIZATION)])} == {"Amortization expense"}


def test_growth_is_computed_from_a_sentence_that_is_cited() -> None:
    question = "What was the growth rate of amortization expense in 2009?"
    formula, row = computed(question, [saying(AMORTIZATION)])
    assert "Amortization expense, 2008 → 2009: (7.4 − 9.3) ÷ 9.3 = −20.4 %" in formula
    assert row == f"- {AMORTIZATION} <source_1>\n"


def test_figures_in_units_that_differ_are_not_computed_with() -> None:
    text = "Revenue was $900 million in 2021 and $1.2 billion in 2022."
    assert computed("By what percentage did revenue grow from 2021 to 2022?", [saying(text)]) == []
