"""Which things of a table a question means, and which of their measures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.text.analysis import terms
from search.generation.extractive.calculations import Calculation, CalculationKind
from search.generation.extractive.listed.asked import (
    COUNTS,
    OF_ADJECTIVES,
    SAID_BESIDES,
    is_within_whole,
    sets_against,
)
from search.generation.extractive.listed.axes import Axis
from search.generation.extractive.named_cells import FiguresNamed, NoteTable, Words
from search.generation.extractive.outstanding.words import TOTAL
from search.generation.extractive.periods import YEAR, years_in

FEWEST_DIGITS = 2
"""A number of fewer digits names nothing."""
SHORTEST_PART = 5
"""In characters: a compound may end with a word that is no shorter."""
HALF = 0.5
"""So much of the name of what is measured is enough; else things must be named, and no word be left."""
_COMPOUNDING = ("de", "nl", "sv", "da", "no", "nb")
_PROPER = re.compile(r"(?<=\s)[A-ZÀ-ÖØ-Þ][\w&-]+")
"""A word with a capital, not the first one; in German any noun has one."""
_RANGE = re.compile(
    r"\b(?:from|between|von|vom|zwischen|entre|depuis|desde|de|dal|van|tussen)\b"
    r"|\d\s?(?:[–-]|to|through|until|bis|à|hasta|al?|tot)\s?\d",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|both|every|(?:al)?together|combined|overall|alle[nr]?|beide[nr]?|zusammen|insgesamt|tous|toutes"
    r"|ensemble|todos|todas|juntos|juntas|tutti|tutte|samen)\b",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|aus) ((?:[\w-]+ ){0,2}[\w-]+)", re.IGNORECASE)
"""What something comes from: revenue “from car makers” is no total."""
_PER = re.compile(r"\b(?:per|pro|je|par|por|each|every|a|an)\s", re.IGNORECASE)
_CALLED_ALIKE = (
    ("United States of America", "United States", "U.S.", "USA", "US"),
    ("United Kingdom", "Great Britain", "U.K.", "UK"),
    ("European Union", "EU"),
    ("Europe", "European"),
)
"""What is called by several names, of which a table has one and a question perhaps another."""


@dataclass(frozen=True, slots=True)
class MeasureMeant:
    """The name of a row or column, and whether a question says enough of it."""

    label: str
    is_said: bool


# --- Things ------------------------------------------------------------------------------------------------


def names_in(question: str) -> list[str]:
    """Return the words of a question that begin with a capital, but its first; in German any noun does."""
    return list(dict.fromkeys(_PROPER.findall(question)))


def as_table_says(question: str, table: NoteTable) -> str:
    """Return a question with the names that a table has for places that are called by several."""
    labels = " · ".join({label for fact in table.figures for label in (fact.row.name, fact.cell.column)})
    for names in _CALLED_ALIKE:
        there = next((name for name in names if _stands_in(labels, name)), None)
        said = next((name for name in names if _stands_in(question, name)), None)
        if there and said:
            question = question.replace(said, there)
    return question


def _stands_in(text: str, name: str) -> bool:
    at = text.find(name)
    before, behind = text[max(0, at - 1) : at], text[at + len(name) : at + len(name) + 1]
    return at >= 0 and not before.isalnum() and not behind.isalnum()


def things_meant(asked: Calculation, question: str, axis: Axis) -> Iterator[list[str]]:
    """Yield the things that a question means, in its order.

    Who speaks of all, of as many as there are, or of each of their kind, need not name them.
    """
    named = things_named(question, axis)
    if not named and _hints_at_one(question, axis):
        return
    if asked.is_yearly and len(named) == 1 and YEAR.fullmatch(named[0]):
        yield [each for each in (str(int(named[0]) - 1), named[0]) if each in axis.things]
        return
    if asked.kind is CalculationKind.RATIO:
        if len(named) == 1 and not YEAR.fullmatch(named[0]) and not _is_of_part(question, named[0], axis):
            yield named
        return
    is_of_many = asked.kind in (CalculationKind.SUM, CalculationKind.MEAN)
    if len(named) == 2 and is_of_many and _RANGE.search(question) and _is_course(named):
        first, last = sorted(map(axis.things.index, named))
        yield axis.things[first : last + 1]
    elif len(named) > 1 if is_of_many else len(named) == 2 and _are_set_against(question, named):
        yield named
    elif is_of_many and not named and _means_all(asked, question, axis):
        has_total = len(axis.all_things) > len(axis.things) and asked.kind is CalculationKind.SUM
        if not has_total:
            yield axis.things


def _are_set_against(question: str, things: Sequence[str]) -> bool:
    return sets_against(question) or all(map(YEAR.fullmatch, things))


def _is_of_part(question: str, thing: str, axis: Axis) -> bool:
    """Tell whether a question asks for a share of a thing, and not for its share."""
    of = {each: words_of(each, axis.language) for each in axis.things}
    own = _alone(thing, of) or of[thing]
    words = (word for word in re.findall(r"\w+", thing.casefold()) if own & set(terms(word, axis.language)))
    return any(is_within_whole(question, word) for word in words)


def _is_course(things: Sequence[str]) -> bool:
    """Tell whether things have an order in which others may stand between them: years, versions, months."""
    return all(any(map(str.isdigit, thing)) for thing in things)


def _means_all(asked: Calculation, question: str, axis: Axis) -> bool:
    """Tell whether a question means all things: “all five”, “together”, “on average per ward”."""
    counts = {COUNTS[word] for word in re.findall(r"\w+", question.casefold()) if word in COUNTS}
    if counts:
        return len(axis.things) in counts
    kind = frozenset(terms(axis.kind, axis.language))
    is_each = any(
        kind & frozenset(terms(question[match.end() :].split(" ", 1)[0], axis.language))
        for match in _PER.finditer(question)
    )
    return _ALL.search(question) is not None or (asked.kind is CalculationKind.MEAN and is_each)


def things_named(question: str, axis: Axis) -> list[str]:
    """Return the things that a question names, in its order: with all their words, or with their own ones.

    “Voltara” is “Voltara Trek 700” and “the school” is “P3 School”, if no other thing is called so.
    """
    language = axis.language
    said = [frozenset(terms(word, language)) for word in question.split()]
    words = frozenset[str]().union(*said)
    proper, is_small = _proper_words(question, language), question == question.lower()
    of = {thing: own for thing in axis.things if (own := words_of(thing, language))}
    named = {
        thing: own
        for thing, own in of.items()
        if own <= words
        or proper & _alone(thing, of) & (_first_word(thing, language) if is_small else own)
        or _is_named_without_code(thing, of, words)
    }
    whole = {
        thing: own
        for thing, own in named.items()
        if not any(own & words < other & words for other in named.values())
    }

    def place(thing: str) -> int:
        telling = (_alone(thing, whole) & words) or (whole[thing] & words)
        return next(at for at, each in enumerate(said) if each & telling)

    return sorted(whole, key=place)


def _proper_words(question: str, language: str | None) -> Words:
    """Return the words of a question that may be somebody's or something's own: those with a capital.

    In German any noun has one. Who writes everything small may mean any longer word that begins a name.
    """
    if question == question.lower():
        found = [word for word in re.findall(r"\w+", question) if len(word) >= SHORTEST_PART]
    else:
        found = [] if language == "de" else _PROPER.findall(question)
    return frozenset(terms(" ".join(found), language))


def _first_word(thing: str, language: str | None) -> Words:
    return frozenset(terms(thing.split(" ", 1)[0], language))


def _hints_at_one(question: str, axis: Axis) -> bool:
    """Tell whether a question has a word that one thing alone has, so that it does not mean all."""
    of = {thing: own for thing in axis.things if (own := words_of(thing, axis.language))}
    words = frozenset(terms(question, axis.language)) - frozenset(terms(axis.kind, axis.language))
    return any(word.isalpha() for thing in of for word in _alone(thing, of) & words)


def _alone(thing: str, of: Mapping[str, Words]) -> Words:
    """Return the words of a thing that no other one has."""
    return of[thing].difference(*(words for other, words in of.items() if other != thing))


def _is_named_without_code(thing: str, of: Mapping[str, Words], words: Words) -> bool:
    """Tell whether all words of a thing but its code are said, and no other thing has them."""
    plain = {other: frozenset(word for word in own if word.isalpha()) for other, own in of.items()}
    is_only = sum(plain[thing] <= other for other in of.values()) == 1
    return len(plain[thing]) < len(of[thing]) and bool(plain[thing]) and plain[thing] <= words and is_only


def words_of(label: str, language: str | None) -> Words:
    """Return the words of a name, without what stands in parentheses; nothing if it is but a digit."""
    words = frozenset(terms(re.sub(r"\([^()]*\)", " ", label), language))
    tells = any(any(map(str.isalpha, word)) or len(word) >= FEWEST_DIGITS for word in words)
    return words if tells else frozenset()


# --- Measures ----------------------------------------------------------------------------------------------


def measure_meant(question: str, axis: Axis, things: Sequence[str]) -> MeasureMeant | None:
    """Return the one of several rows or columns that a question means; None if it is not sure."""
    language, measures = axis.language, axis.measures(things)
    of_things = frozenset[str]().union(*(words_of(thing, language) for thing in [*things, axis.kind]))
    said = _said(question, language) - of_things
    fits = {each: _fit(own, said, language) for each in measures if (own := words_of(each, language))}
    best = max(fits.values(), default=(False, 0))
    meant = [each for each, fit in fits.items() if fit == best]
    if len(meant) == 1 and best[1]:
        is_enough = best[0] or best[1] >= HALF * len(words_of(meant[0], language))
        is_named = bool(things_named(question, axis))
        return MeasureMeant(meant[0], is_said=is_enough) if is_named or is_enough else None
    totals = [each for each in measures if TOTAL.match(each) and len(words_of(each, language)) < 2]
    if len(totals) == 1 and not best[1]:
        return MeasureMeant(totals[0], is_said=False)
    only = len(measures) == 1 and bool(things_named(question, axis)) and words_of(measures[0], language)
    return MeasureMeant(measures[0], is_said=False) if only else None


def _said(question: str, language: str | None) -> Words:
    """Return the words of a question, and what those of its adjectives are called that tables measure."""
    measured = (names for cue, names in OF_ADJECTIVES.items() if cue.search(question))
    return frozenset(terms(" ".join([question, *measured]), language))


def _fit(own: Words, said: Words, language: str | None) -> tuple[bool, int]:
    """Return whether all words of a name are said, and how many; “Stadtfläche” says “Fläche”."""
    found = own & said
    if language in _COMPOUNDING:
        found |= {
            part
            for part in own
            if len(part) >= SHORTEST_PART
            and any(part in (word[: len(part)], word[-len(part) :]) for word in said)
        }
    return own <= found, len(found)


def words_said(question: str, axis: Axis, labels: Sequence[str]) -> int:
    """Return how many words of a question are those of some labels."""
    own = frozenset[str]().union(*(words_of(label, axis.language) for label in labels))
    return _fit(own, _said(question, axis.language), axis.language)[1]


# --- All else ----------------------------------------------------------------------------------------------


def left_unsaid(
    question: str, cues: str, axis: Axis, things: Sequence[str], measure: MeasureMeant
) -> int | None:
    """Return how many words of a question are said neither in the table nor around it; None if too much is.

    One may be, that is no name, no number, no year and not what something comes from; where nothing tells the
    measure, none. `cues` are the words that tell what is to be computed.
    """
    language = axis.language
    needed = FiguresNamed(question, cues).needed(language) - SAID_BESIDES
    labels = " ".join([*things, measure.label, axis.kind, *axis.sections, *COUNTS])
    own = frozenset(terms(measure.label, language))
    known = axis.words_around | frozenset(terms(labels, language))
    unsaid = needed - known
    left = [word for word in unsaid if not _fit(own, frozenset([word]), language)[1]]
    names = frozenset(terms(" ".join([] if language == "de" else _PROPER.findall(question)), language))
    is_named = any(word in names or any(map(str.isdigit, word)) for word in left)
    is_named = is_named or bool(years_in(question) - known)
    sources = frozenset(terms(" ".join(_FROM.findall(question)), language))
    is_named = is_named or not sources.isdisjoint(left)
    return None if is_named or len(left) > measure.is_said else len(left)
