"""How the extractive answerer words what it quotes."""

from __future__ import annotations

import pytest

from search.answer.extractive import as_told


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("The light\n burns.", "The light burns."),
        ("| Total revenue | $ 17,606 |  | 12,868 |", "Total revenue · $ 17,606 · 12,868"),
        ("Either | or", "Either | or"),
    ],
)
def test_a_table_row_is_told_without_its_bars(sentence: str, told: str) -> None:
    assert as_told(sentence) == told
