"""Sentences end where readers see them end."""

from __future__ import annotations

import pytest

from core.text.sentences import sentence_bounds

SENTENCES = [
    ["It has plans for certain non-U.S. employees.", "They end in May."],
    ["He lives in the U.S.", "She does not."],
    ["東京は大きい。", "人が多い。"],
]


@pytest.mark.parametrize("sentences", SENTENCES, ids=["within a word", "at its end", "without blanks"])
def test_sentences(sentences: list[str]) -> None:
    text = " ".join(sentences) if sentences[0].isascii() else "".join(sentences)
    assert [text[start:end] for start, end in sentence_bounds(text, None)] == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["(3) It is high.", "It has rinks (two of them).", "It is old."],
        ["(a)(b) One is here.", "Two is there."],
        ["It came in 142.", "(50) Then it went.", "(41) It came again.", "It stays."],
        ["(iv) One."],
        ["(3)"],
    ],
)
def test_a_number_in_parentheses_holds_no_paragraph_together(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_bounds(text, "en")] == sentences


def test_many_numbers_end_in_one_long_sentence() -> None:
    bounds = sentence_bounds("(3) It is. " * 200, "en")
    assert bounds[0] == (0, 10)
    assert bounds[-1][1] == 11 * 200 - 1
