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
