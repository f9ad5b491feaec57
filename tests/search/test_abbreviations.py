"""Retrieval writes out what people abbreviate."""

from __future__ import annotations

import pytest

from search.abbreviations import written_out


@pytest.mark.parametrize(
    ("question", "added"),
    [
        ("Who is the CEO of Acme?", "chief executive officer"),
        ("What did R&D cost?", "research and development"),
        ("How high were EPS and capex?", "capital expenditures, earnings per share"),
        ("How many employees does Acme have?", "employed people employees"),
        ("How many people does Acme employ?", "employed people employees"),
        ("Wie viele Mitarbeiter hat Acme?", "Mitarbeiter Beschäftigte beschäftigt"),
    ],
)  # fmt: skip
def test_an_abbreviation_is_written_out(question: str, added: str) -> None:
    assert written_out(question) == added


@pytest.mark.parametrize(
    "question",
    [
        "Who is the CEO, the chief executive officer?",
        "How many people live in Warsaw?",
        "What is an oceanographer?",
        "Who led the vatican?",
        "",
    ],
)
def test_other_questions_have_nothing_to_write_out(question: str) -> None:
    assert written_out(question) == ""
