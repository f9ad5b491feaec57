"""Run-in headings: bold or italic words at the beginning of a paragraph."""

from __future__ import annotations

from dataclasses import replace

from extract.base import Element
from ingestion.structure.elements import structure_elements
from ingestion.structure.run_in import run_in_title
from tests.ingestion.structure.lines_of_type import BODY, body, typed


def titles(*leads: str, between: str = " ") -> list[str]:
    """Return the run-in headings of paragraphs that begin with such words."""
    paragraphs = [
        replace(typed(f"{lead}{between}{BODY}", y=620 + 20 * at), lead=len(lead))
        for at, lead in enumerate(leads)
    ]
    found: list[Element] = structure_elements([*body(), *paragraphs])
    return [run_in_title(element) for element in found if element.lead]


def test_several_are_found() -> None:
    assert titles("Digital media.", "Lamps and oil:") == ["Digital media", "Lamps and oil"]
    assert titles("Digital media", "Lamps and oil", between=" — ") == ["Digital media", "Lamps and oil"]


def test_one_alone_is_an_emphasis() -> None:
    assert titles("Digital media.") == []


def test_emphasised_words_of_a_sentence_are_none() -> None:
    assert titles("The keepers", "All ships", "Oil") == []


def test_marks_captions_and_statements_are_none() -> None:
    assert titles("Figure 3.", "Theorem 2.", "Note:", "Proof.") == []
    assert titles("Usage.", "Usage.", "Usage.", "Usage.", "Oil.", "Lamps.") == ["Oil", "Lamps"]
