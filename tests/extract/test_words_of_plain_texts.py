"""However a plain text is laid out, each of its words is in one heading, paragraph or table, and no more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from extract.base import Kind
from extract.text.plain import plain_elements

WORDS = [
    "",
    "",
    "Ada",
    "tomato",
    "12",
    "1,850.00",
    "7:40",
    "x y z",
    "五十",
    "end.  The",
    "lower",
    "TOP 2",
    "Key:",
]
SIGNS = ["\t", "\t", "|", " | ", "  ", "   ", "\u3000", ".....", " "]
BETWEEN = [
    "",
    "SECTION",
    "(rest)",
    "lower",
    "-----",
    "*** Title ***",
    "1. Aim",
    "A sentence of several words.",
]
TEXTS = 400
_WORD = re.compile(r"[^\W_]+")


def text_of(random: Random) -> str:
    """Lay out words by chance, often below each other."""
    sign, columns, is_wide = random.choice(SIGNS), random.randint(2, 5), random.random() < 0.5
    return "\n".join(_lines(random, sign, columns, 9 if is_wide and sign != "\t" else 0))


def _lines(random: Random, sign: str, columns: int, width: int) -> Iterator[str]:
    for _ in range(random.randint(3, 12)):
        yield sign.join(random.choice(WORDS).ljust(width) for _ in range(columns))
        if random.random() < 0.1:
            yield random.choice(BETWEEN)


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def test_no_word_is_lost_and_none_comes_twice() -> None:
    tables = 0
    for seed in range(TEXTS):
        text = text_of(Random(seed))
        elements = list(plain_elements(text))
        assert sum((words(each.text) for each in elements), Counter()) == words(text), text
        tables += sum(each.kind is Kind.TABLE for each in elements)
    assert tables > TEXTS / 4


@pytest.mark.parametrize(
    "text",
    [
        "Code\tSort\tPrice\nT1\tGul\t24\n\tAda\nT2\tSvart\t31\n\tFreight\t59",
        "a\tb\n" * 3 + "\t" * 30 + "far away",
        "|" * 30 + "far away|\n" + "| a | b |\n" * 3,
    ],
    ids=["a line of one cell between tabs", "many tabs", "many bars"],
)
def test_no_cell_is_lost(text: str) -> None:
    assert sum((words(each.text) for each in plain_elements(text)), Counter()) == words(text)
