"""Raised figures are no part of the word or number behind which they stand."""

from __future__ import annotations

import pytest

from core.text.analysis import terms
from core.text.figures import unit_of
from core.text.raised import raised, without_raised
from core.text.sentences import sentence_bounds
from core.text.tables import header_of


@pytest.mark.parametrize(
    ("drawn", "written"),
    [("4", "⁴"), ("12", "¹²"), ("-6", "⁻⁶"), ("−1", "⁻¹"), ("1,2", "¹,²"), ("a", "ᵃ")],
)
def test_figures_are_raised(drawn: str, written: str) -> None:
    assert raised(drawn) == written
    assert without_raised(f"word{written} word") == "word word"


@pytest.mark.parametrize("drawn", ["", "th", "e", "[4]", "1a", ",", "-", "123456789"])
def test_what_is_no_figure_stays(drawn: str) -> None:
    assert raised(drawn) == drawn


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$0.16²", ["0.16"]),
        ("1,353¹", ["1353"]),
        ("56.3ᵃ", ["56.3"]),
        ("2023¹", ["2023"]),
        ("10⁶", ["10"]),
        ("NER⁴", ["ner4", "ner"]),
        ("m²", ["m2", "m"]),
        ("pieces.¹", ["piec"]),
    ],
)
def test_a_note_is_no_part_of_a_number_and_a_word_is_found_without(text: str, found: list[str]) -> None:
    assert terms(text, "en") == found


def test_a_note_belongs_to_the_sentence_behind_which_it_stands() -> None:
    sentences = [
        "We use 16k pieces.¹",
        "It was new (Kim, 2013).²",
        "The loss was $0.16³ a share.",
        "So be it.⁴",
    ]
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_bounds(text, "en")] == sentences


@pytest.mark.parametrize(
    ("cell", "unit"),
    [("240 m³/h", "m³/h"), ("71¹", ""), ("56.3ᵃ", ""), ("56.3a", ""), ("$ 5.50", "$"), ("1,5 kWh", "kWh")],
)
def test_the_mark_of_a_note_is_no_unit(cell: str, unit: str) -> None:
    assert unit_of(cell) == unit


def test_a_year_with_a_note_names_a_column_and_an_amount_with_one_does_not() -> None:
    assert header_of("| Item | 2023¹ |\n| --- | --- |\n| Sales | 5 |") == "| Item | 2023¹ |"
    assert (
        header_of("|  | 2024 £ | 2023 £ |\n| --- | --- | --- |\n| Fees | 5 | 4 |") == "|  | 2024 £ | 2023 £ |"
    )
    assert header_of("|  |  |\n| --- | --- |\n| Fees | 5 |") == ""
    assert header_of("| Sales | 1,353¹ |\n| --- | --- |\n| Costs | 5 |") == ""
