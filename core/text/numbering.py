"""Numbers of headings: “3.2 Methods”, “IV. RESULTS”, “B. Data”, “Item 1A. Risk Factors”, “Note 5 – Income”.

A number alone proves little, because lists and table rows have numbers, too. It is taken as a heading's if
the document counts on: 3.2 follows 3.1, and 3.1 stands below 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

# By rank, the outermost first; in the languages of documents that are common here.
RANKS = (
    ("volume", "band", "tome"),
    ("part", "teil", "partie", "parte"),
    ("chapter", "kapitel", "chapitre", "capítulo"),
    ("article", "artikel", "artículo"),
    ("item",),
    ("section", "abschnitt", "sección"),
    ("schedule",),
    ("note",),
    ("appendix", "annex", "anhang", "annexe", "anexo"),
)
RANK_OF = {word: rank for rank, words in enumerate(RANKS) for word in words}
NAMED = re.compile(
    rf"({'|'.join(RANK_OF)})\s+(\d{{1,3}}[a-z]?|[ivx]{{1,5}}|[a-z])(?![\w’'])\W{{0,5}}", re.IGNORECASE
)
ALONE = re.compile(rf"({'|'.join(RANK_OF)})(\s+\w{{1,9}})?\W{{0,3}}", re.IGNORECASE)
DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})(?:[.)]{0,2}\s+|[.)]\s*)(?=[^\W\d_]|[“„«‘\"(])")
LETTERED = re.compile(r"([A-Z](?:\.\d{1,2}){1,4})[.)]?\s+(?=\S)")
ROMAN = re.compile(r"([IVX]{1,5})[.)]\s+(?=[^\W\d_])")
LETTER = re.compile(r"([A-Z])[.)]\s+(?=[^\W\d_])")
SMALL = re.compile(r"\(?([a-z])[.)]\s+(?=[A-Z“\"])")
# “A Proofs” among appendices, or an article.
BARE_LETTER = re.compile(r"([A-Z])\s+(?=[A-Z])")
ROMANS = {"I": 1, "V": 5, "X": 10}
LONGEST = 40


class Counting(StrEnum):
    """How a heading's number is written."""

    NAMED = "named"
    DECIMAL = "decimal"
    LETTERED = "lettered"
    ROMAN = "roman"
    LETTER = "letter"
    SMALL = "small"


Key = tuple[Counting, int, tuple[int, ...]]
"""A label's counting, rank and number."""


@dataclass(frozen=True, slots=True)
class Label:
    """A number at the beginning of a text; `number` has an entry for each level: 3.2 is (3, 2).

    Of a named label, `rank` is the position of its word in `RANKS`. `end` is where the title begins.
    """

    counting: Counting
    number: tuple[int, ...]
    end: int
    rank: int = 0

    @property
    def depth(self) -> int:
        """How many levels the number names."""
        return len(self.number)

    @property
    def key(self) -> Key:
        """What equal numbers share."""
        return self.with_number(self.number)

    def with_number(self, number: tuple[int, ...]) -> Key:
        """Return the key of another number of the same counting."""
        return self.counting, self.rank, number


def labels(text: str) -> Iterator[Label]:
    """Yield what the beginning of a text may number; “I.” can be a letter or a Roman number."""
    head = text[:LONGEST]
    if found := NAMED.match(head):
        yield Label(Counting.NAMED, (_value(found[2]),), found.end(), RANK_OF[found[1].lower()])
    if found := DECIMAL.match(head):
        yield Label(Counting.DECIMAL, tuple(map(int, found[1].split("."))), found.end())
    if found := LETTERED.match(head):
        letter, *rest = found[1].split(".")
        yield Label(Counting.LETTERED, (_place_in_alphabet(letter), *map(int, rest)), found.end())
    if found := ROMAN.match(head):
        yield Label(Counting.ROMAN, (_roman(found[1]),), found.end())
    if found := LETTER.match(head):
        yield Label(Counting.LETTER, (_place_in_alphabet(found[1]),), found.end())
    if found := SMALL.match(head):
        yield Label(Counting.SMALL, (_place_in_alphabet(found[1].upper()),), found.end())
    if found := BARE_LETTER.match(head):
        yield Label(Counting.LETTERED, (_place_in_alphabet(found[1]),), found.end())


def is_label_alone(text: str) -> bool:
    """Whether a text is a number without a title: “Chapter 3”, “PART ONE”."""
    return len(text) <= LONGEST and ALONE.fullmatch(text) is not None


def counted(candidates: Sequence[Sequence[Label]]) -> list[Label | None]:
    """Return for each text, in reading order, the label by which the document counts it, or None."""
    everything = {label.key for possible in candidates for label in possible}
    seen: set[Key] = set()
    found: list[Label | None] = []
    for possible in candidates:
        found.append(next((label for label in possible if _is_counted(label, seen, everything)), None))
        seen |= {label.key for label in possible}
    return found


def _is_counted(label: Label, seen: set[Key], everything: set[Key]) -> bool:
    """Whether its predecessor or the heading above it was seen, or it is the first of several."""
    if label.counting is Counting.NAMED:
        return True
    *outer, last = label.number
    before, above, after = (*outer, last - 1), tuple(outer), (*outer, last + 1)
    if label.with_number(before) in seen or (outer and label.with_number(above) in seen):
        return True
    return last == 1 and label.with_number(after) in everything


def _value(text: str) -> int:
    """Return the number that follows a word: 1A counts as 1, II as 2, C as 3."""
    upper = text.upper()
    if upper[0].isdigit():
        return int(upper.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    return _roman(upper) if set(upper) <= ROMANS.keys() else _place_in_alphabet(upper)


def _place_in_alphabet(letter: str) -> int:
    return ord(letter) - ord("A") + 1


def _roman(text: str) -> int:
    values = [ROMANS[letter] for letter in text]
    return sum(
        -value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True)
    )
