"""Numbers at the beginning of headings, and whether a document counts by them."""

from __future__ import annotations

import pytest
from pytest import Subtests

from core.text.numbering import Counting, Label, counted, labels

LABELS = {
    "1 Introduction": (Counting.DECIMAL, (1,), "Introduction"),
    "1. Introduction": (Counting.DECIMAL, (1,), "Introduction"),
    "3.2 Methods": (Counting.DECIMAL, (3, 2), "Methods"),
    "3.2.10. “Quoted”": (Counting.DECIMAL, (3, 2, 10), "“Quoted”"),
    "A.1 Proof of the lemma": (Counting.LETTERED, (1, 1), "Proof of the lemma"),
    "IV. RESULTS": (Counting.ROMAN, (4,), "RESULTS"),
    "B. Data": (Counting.LETTER, (2,), "Data"),
    "Item 1A. Risk Factors": (Counting.NAMED, (1,), "Risk Factors"),
    "ITEM 7—MANAGEMENT": (Counting.NAMED, (7,), "MANAGEMENT"),
    "Note 15 – Segments": (Counting.NAMED, (15,), "Segments"),
    "Part II": (Counting.NAMED, (2,), ""),
    "Appendix C: Tables": (Counting.NAMED, (3,), "Tables"),
}
WITHOUT = ["Introduction", "2022 2021", "1,000 ships", "3.5%", "Parties agree", "item", "Noted 5", "", "1"]


def test_labels(subtests: Subtests) -> None:
    for text, (counting, number, title) in LABELS.items():
        with subtests.test(text=text):
            label = next(labels(text))
            assert (label.counting, label.number) == (counting, number)
            assert text[label.end :] == title


@pytest.mark.parametrize("text", WITHOUT)
def test_what_has_no_number(text: str) -> None:
    assert not list(labels(text))


def test_a_letter_may_be_a_roman_number() -> None:
    assert [label.counting for label in labels("I. First")] == [Counting.ROMAN, Counting.LETTER]


def by_number(*texts: str) -> list[tuple[int, ...] | None]:
    found: list[Label | None] = counted([list(labels(text)) for text in texts])
    return [label.number if label else None for label in found]


def test_numbers_that_follow_each_other() -> None:
    texts = "1 One", "1.1 Inner", "1.2 Inner", "2 Two", "2.1 Inner"
    assert by_number(*texts) == [(1,), (1, 1), (1, 2), (2,), (2, 1)]


def test_a_number_by_itself_counts_nothing() -> None:
    assert by_number("1 Litre of milk", "7 Dwarfs", "4.4 Metres") == [None, None, None]


def test_below_a_number_that_was_seen_one_may_be_missing() -> None:
    assert by_number("1 One", "2 Two", "2.3 Third") == [(1,), (2,), (2, 3)]


def test_what_comes_before_decides_between_letters_and_roman_numbers() -> None:
    found = counted([list(labels(text)) for text in ("H. Eight", "A. One", "B. Two", "C. Three")])
    assert [label and label.counting for label in found] == [None, *[Counting.LETTER] * 3]


def test_named_numbers_need_no_neighbours() -> None:
    assert by_number("Item 5. Market", "Note 3 Leases") == [(5,), (3,)]
