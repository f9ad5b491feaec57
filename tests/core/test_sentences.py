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


@pytest.mark.parametrize("bullet", "•▪■○►★-")
def test_a_bullet_holds_no_paragraph_together(bullet: str) -> None:
    text = f"{bullet} Ring the bell. Wait.\n{bullet} It may\ntake long. Be calm."
    assert [text[start:end] for start, end in sentence_bounds(text, "en")] == [
        f"{bullet} Ring the bell.",
        "Wait.",
        f"{bullet} It may\ntake long.",
        "Be calm.",
    ]


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


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("de", ["Die Pest blieb bis zum zweiten Quartal des 19. Jahrhunderts.", "Dann ging sie."]),
        (
            "de",
            ["Am 3. Oktober 1990 zog der 20. Präsident in die 5. Etage.", "Er blieb im 18. und 19. Bezirk."],
        ),
        (
            "de",
            ["Anfang 20. Jahrhundert war der 2. Weltkrieg fern.", "Das XIX. Kapitel der XX. Ausgabe endet."],
        ),
        ("de", ["Er kam auf Platz 2.", "Die anderen kamen 1654.", "Venedig lag dort."]),
        ("de", ["Das sind die 5.", "Er kam nicht.", "Es kostet 12.", "Peter zahlt."]),
        ("de", ["Inkl. MwSt. kostet es bei Fa. Müller 5 Euro.", "Nr. 5 lebt."]),
        ("da", ["I det 19. århundrede var det stort.", "Nu er det væk."]),
        ("cs", ["V 19. století byla velká.", "Dne 3. října přišel."]),
        ("hu", ["A 19. században volt.", "Most nincs."]),
        ("pl", ["W 1990 r. był tam prof. dr hab. Kowalski.", "M.in. on."]),
        ("fr", ["M. Dupont est venu.", "Il vivait av. J.-C. dans une tour.", "Le Dr. Martin est au no. 5."]),
        ("nl", ["Bijv. dit en o.a. dat boek.", "Op 3 okt. 1990 kwam hij."]),
        (
            "en",
            ["Approx. 20 came at 5 p.m.", "The dog saw no. 5.", "He has 19.", "It is.", "eBay grew."],
        ),
        ("en", ["1. The tower is high.", "B. It is old.", "IV. It is red."]),
        ("en", ["Kim et al. 2015 said so (Li et al. 2016).", "So did Li et al.", "Others did not."]),
    ],
)
def test_a_full_stop_of_an_ordinal_or_an_abbreviation_ends_nothing(
    language: str, sentences: list[str]
) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in sentence_bounds(text, language)] == sentences


def test_a_full_stop_at_the_end_of_a_line_ends_what_it_ends() -> None:
    text = "Das war des 19.\nJahrhunderts. In no.\n5 people came."
    assert len(sentence_bounds(text, "de")) > 2
