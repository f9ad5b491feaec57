"""Sentences end where readers see them end."""

from __future__ import annotations

from itertools import pairwise

import pytest

from core.text.sentences import rejoined, sentence_bounds

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


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (
            ["It announced updates to its financials and,", "in June, to its guidance.", "Sales rose."],
            ["It announced updates to its financials and,\nin June, to its guidance.", "Sales rose."],
        ),
        (
            ["The old tower of the harbour was", "built by", "her.", "It is high."],
            ["The old tower of the harbour was\nbuilt by\nher.", "It is high."],
        ),
        (["The old tower of the harbour was built.", "iPhones came later.", "It is high."], None),
        (["Revenue by Region", "and other tables", "It is high."], None),
        (["Things we need for the long walk", "python 3", "node 18", "postgres 18"], None),
    ],
    ids=["a page's end", "several times", "after a mark", "a title", "a list"],
)
def test_what_was_cut_is_whole_again(pieces: list[str], whole: list[str] | None) -> None:
    text = "\n".join(pieces)
    ends = [sum(len(piece) + 1 for piece in pieces[:count]) for count in range(len(pieces) + 1)]
    bounds = [(start, end - 1) for start, end in pairwise(ends)]
    expected = pieces if whole is None else whole
    assert [text[start:end] for start, end in rejoined(text, bounds)] == expected
