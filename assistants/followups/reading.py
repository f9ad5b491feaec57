"""What stands in a question: words, periods, names and informative words, by the word lists of a language.

Everything here compares words; there is one pattern, for what a word is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from core.text.analysis import terms

Unit = Literal["year", "quarter", "month"]
Phrase = tuple[str, ...]

# A hyphen belongs to a word that has a digit behind it, such as KV-114.
_WORD = re.compile(r"[^\W_]++(?:-\d[^\W_]*+)*+")
_YEAR = re.compile(r"(?:FY)?((?:19|20)\d\d)", re.IGNORECASE)
_QUARTER = re.compile(r"[QT]([1-4])", re.IGNORECASE)
_BETWEEN_NAMES = {" ", " & ", "-", ". ", "’", "'"}
_COUNT = "#"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands in its text."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """The word without case."""
        return self.text.casefold()


@dataclass(frozen=True, slots=True)
class WordSpan:
    """Neighbouring words, `first` to before `last`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class NamedPeriod(WordSpan):
    """A year, quarter or month as it is written; quarters and months count from 1."""

    unit: Unit
    value: int
    forms: tuple[str, ...]
    """For each value of the unit how it would be written here; none for years."""


@dataclass(frozen=True, slots=True)
class PeriodShift(WordSpan):
    """A period that is named by its distance: “the year before” is -1 year."""

    unit: Unit
    by: int


class Lexicon:
    """The word lists of one language (`words.json`), in lower case."""

    def __init__(self, language: str, lists: Mapping[str, Any]) -> None:
        self.language = language
        self._lists = lists
        self.prepositions: Mapping[str, str] = lists.get("prepositions", {})
        self.months: tuple[str, ...] = tuple(lists.get("months", ()))
        self.ordinals: Sequence[Sequence[str]] = lists.get("ordinals", ())
        self.quarters = frozenset(lists.get("quarter", ()))

    @cache  # noqa: B019 - there are four, and they live as long as the process
    def words(self, *names: str) -> frozenset[str]:
        """Return the words of some lists; of a phrase its first."""
        return frozenset(phrase.split()[0] for name in names for phrase in self._lists.get(name, ()))

    @cache  # noqa: B019
    def phrases(self, name: str) -> tuple[Phrase, ...]:
        """Return the phrases of a list, the longest first."""
        return _by_length(self._lists.get(name, ()))

    @cache  # noqa: B019
    def shifts(self) -> tuple[tuple[Unit, int, Phrase], ...]:
        """Return how a period is named by its distance: unit, direction, and the words."""
        found = [
            (unit, sign, phrase)
            for unit, directions in self._lists.get("shifts", {}).items()
            for direction, sign in (("back", -1), ("on", 1))
            for phrase in _by_length(directions[direction])
        ]
        return tuple(sorted(found, key=lambda shift: -len(shift[2])))

    def number(self, word: str) -> int | None:
        """Return the number a word names, up to 99."""
        if word.isascii() and word.isdigit() and len(word) < 3:
            return int(word)
        numbers: Mapping[str, int] = self._lists.get("numbers", {})
        return numbers.get(word)


def _by_length(phrases: Iterable[str]) -> tuple[Phrase, ...]:
    return tuple(sorted((tuple(phrase.split()) for phrase in phrases), key=len, reverse=True))


@cache
def lexicons() -> Mapping[str, Lexicon]:
    """Return the word lists by language, ISO 639-1."""
    lists = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
    return {language: Lexicon(language, of_language) for language, of_language in lists.items()}


def lexicon_of(question: str, said_before: str) -> Lexicon:
    """Return the word lists of the language with the most stop words; what was asked before counts less."""

    def stop_words(text: str, language: str) -> int:
        return sum(not terms(word, language) for word in _WORD.findall(text))

    def score(language: str) -> int:
        return 3 * stop_words(question, language) + stop_words(said_before, language)

    return lexicons()[max(lexicons(), key=score)]


class Reading:
    """A question, read with the word lists of a language."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.text, self.lexicon = text, lexicon
        self.words = [Word(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]
        self.lows = [word.low for word in self.words]

    def slice(self, first: int, last: int) -> str:
        """Return the text from one word to before another."""
        return self.text[self.words[first].start : self.words[last - 1].end] if first < last else ""

    def find(self, phrases: Iterable[Phrase], first: int = 0) -> WordSpan | None:
        """Return where the first of the phrases stands, `first` or later."""
        for phrase in phrases:
            for start in range(first, len(self.lows) - len(phrase) + 1):
                if self.is_at(phrase, start):
                    return WordSpan(start, start + len(phrase))
        return None

    def is_at(self, phrase: Phrase, start: int) -> bool:
        """Tell whether a phrase stands at a place."""
        words = self.lows[start : start + len(phrase)]
        return len(words) == len(phrase) and all(
            word == wanted or (wanted == _COUNT and self.lexicon.number(word) is not None)
            for word, wanted in zip(words, phrase, strict=True)
        )

    @cached_property
    def opener(self) -> int:
        """How many words only tie the question to what was said: “and what about”."""
        for phrase in self.lexicon.phrases("openers"):
            if self.is_at(phrase, 0):
                return len(phrase)
        return 0

    @cached_property
    def periods(self) -> list[NamedPeriod]:
        """The periods, in order."""
        return list(self._periods())

    def _periods(self) -> Iterator[NamedPeriod]:
        months = self.lexicon.months
        for place, word in enumerate(self.words):
            if year := _YEAR.fullmatch(word.text):
                yield NamedPeriod(place, place + 1, "year", int(year[1]), ())
            elif quarter := _QUARTER.fullmatch(word.text):
                forms = tuple(f"{word.text[0]}{value}" for value in range(1, 5))
                yield NamedPeriod(place, place + 1, "quarter", int(quarter[1]), forms)
            elif word.text in months:
                yield NamedPeriod(place, place + 1, "month", months.index(word.text) + 1, months)
            elif word.low in self.lexicon.quarters and place and (found := self._ordinal(place - 1)):
                yield found

    def _ordinal(self, place: int) -> NamedPeriod | None:
        for value, forms in enumerate(self.lexicon.ordinals, start=1):
            if self.lows[place] in forms:
                column = forms.index(self.lows[place])
                same = tuple(each[min(column, len(each) - 1)] for each in self.lexicon.ordinals)
                return NamedPeriod(place, place + 1, "quarter", value, same)
        return None

    @cached_property
    def shift(self) -> PeriodShift | None:
        """The period that is named by its distance from another, unless that one is named, too."""
        if any(period.unit == "year" for period in self.periods):
            return None
        for unit, sign, phrase in self.lexicon.shifts():
            if span := self.find([phrase]):
                counted = (
                    self.lexicon.number(word)
                    for word, wanted in zip(self.lows[span.first : span.last], phrase, strict=True)
                    if wanted == _COUNT
                )
                return PeriodShift(span.first, span.last, unit, sign * (next(counted, None) or 1))
        return None

    @cached_property
    def names(self) -> list[WordSpan]:
        """Names and codes: “Nordhavn Ferries”, “F7”. In German, where nouns are capitalised, two in a row."""
        return list(self._names())

    def _names(self) -> Iterator[WordSpan]:
        first = 0
        while first < len(self.words):
            last = first
            while last < len(self.words) and self._may_be_in_name(last, begins=last == first):
                last += 1
                if last < len(self.words) and self.between(last) not in _BETWEEN_NAMES:
                    break
            if last > first and self._is_name(first, last):
                yield WordSpan(first, last)
            first = max(last, first + 1)

    def between(self, place: int) -> str:
        """Return what stands before a word, after the one before it."""
        return self.text[self.words[place - 1].end : self.words[place].start]

    def _may_be_in_name(self, place: int, *, begins: bool) -> bool:
        word = self.words[place]
        if self.in_period(place) or word.low in self.lexicon.words("interrogatives", "openers", "light"):
            return False
        if word.text.isdigit():
            return not begins and len(word.text) < 4 and self.lexicon.language != "de"
        return (word.text[0].isupper() and self.is_informative(place)) or is_code(word.text)

    def _is_name(self, first: int, last: int) -> bool:
        if any(is_code(self.words[place].text) for place in range(first, last)):
            return True
        if self.lexicon.language == "de":
            return last - first > 1
        # The first word of a sentence has a capital letter anyway.
        return first > 0 or last - first > 1

    def in_period(self, place: int) -> bool:
        """Tell whether a word belongs to a period."""
        return any(period.first <= place < period.last for period in self.periods)

    @cached_property
    def _silent(self) -> frozenset[str]:
        lists = ("interrogatives", "pronouns", "persons", "possessives", "demonstratives", "light")
        return self.lexicon.words(*lists)

    def is_informative(self, place: int) -> bool:
        """Tell whether a word says what the question is about."""
        word = self.words[place]
        if word.low in self._silent or (len(word.text) == 1 and not word.text.isdigit()):
            return False
        return bool(terms(word.text, self.lexicon.language))

    @cached_property
    def informative(self) -> list[int]:
        """Places of the words that say what the question is about, without periods and what names one."""
        shift = self.shift or WordSpan(0, 0)
        quarters = self.lexicon.quarters
        return [
            place
            for place in range(self.opener, len(self.words))
            if self.is_informative(place)
            and not self.in_period(place)
            and not shift.first <= place < shift.last
            and not (self.lows[place] in quarters and self.in_period(place - 1))
        ]


def is_code(word: str) -> bool:
    """Tell whether a word has both letters and digits, as names of models and errors have."""
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word)) and not _YEAR.fullmatch(word)
