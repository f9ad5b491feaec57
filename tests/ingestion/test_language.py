"""The language of a document: a code that the contract knows, or none."""

from __future__ import annotations

import pytest

from core.locations import LocatedText
from extract.base import Element, Kind
from ingestion.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The lighthouse was lit for the first time in August.", "en"),
        ("Der Leuchtturm wurde im August zum ersten Mal entzündet.", "de"),
        # Taken for Central Bikol, which has a code of three letters only.
        ("Multipage\nTIFF\nExample\nPage 1\nMultipage\nTIFF\nExample\nPage 2", None),
        ("42 ABC", None),
    ],
)
def test_a_language_has_a_code_of_two_letters(text: str, language: str | None) -> None:
    assert language_of([Element(Kind.PARAGRAPH, LocatedText.of_spans(text, []))]) == language
