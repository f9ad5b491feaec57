"""Formulas that a question asks for in its own words, rather than by the name of a measure alone.

“What is the 2020 - 2022 average of capex as a % of revenue?”
“What was EBITDA less capex in 2022?”
“How did operating expenses compare to revenue in 2022?”
“What is the asset turnover? It is defined as revenue / (average total assets between 2021 and 2022).”
“How much did working capital change between 2021 and 2022?”
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from search.generation.extractive.calculations import asks_for_change, asks_for_mean, asks_for_sum
from search.generation.extractive.expressions import (
    LATEST,
    SHARE_OF,
    NotUnderstood,
    Worded,
    combined,
    earlier,
    expression_in,
    mean_of,
    periods_through,
)
from search.generation.extractive.lines import lines_named
from search.generation.extractive.measures import MEASURES, Measure, lines_of
from search.generation.extractive.periods import YEAR, part_of, periods_in
from search.generation.extractive.question_parts import parts_of_question
from search.generation.extractive.yes_no import wants_yes_or_no

MOST_WAYS = 3
_AS_SHARE = re.compile(
    r"\s(?:as|in) (?:an? |the )?(?:%|percent(?:age)?|share|fraction|proportion) of\s", re.IGNORECASE
)
_TO = re.compile(
    r"\s(?:to|compare[sd]? (?:to|with)|relative to|as a multiple of)\s(?:its |their |the )?", re.IGNORECASE
)
_AND = re.compile(r"\sand\s(?:its |the )?", re.IGNORECASE)
_BETWEEN = re.compile(r"\bdifference between\b", re.IGNORECASE)
_PERCENT = re.compile(
    r"%|\bper ?cent|\b(?:margins?|rates?)\b|\bshare of\b|\bcompare[sd]? (?:to|with)\b", re.IGNORECASE
)
_SAID_BESIDES = re.compile(
    r"\b(?:(?:on )?(?:average|mean)|unadjusted|difference between|combined|together"
    r"|(?:\d|two|three|four|five)[- ]years?|durchschnitt\w*)\b",
    re.IGNORECASE,
)
_CUES = tuple(
    (re.compile(rf"(?<!\w)(?:{measure.cue})(?!\w)", re.IGNORECASE), measure) for measure in MEASURES
)


@dataclass(frozen=True, slots=True)
class AskedFormula:
    """`measure` has one formula, over lines of certain periods: “{revenue@2022}”.

    `about` is what the question says besides, which must be said of the document.
    """

    measure: Measure
    about: str
    places: int | None = None

    @property
    def keys(self) -> list[str]:
        """The lines of statements that it takes."""
        return lines_of(self.measure.ways[0])


@dataclass(frozen=True, slots=True)
class _Named:
    """Where a question names something to compute with; `defined` is the name by which it defines that."""

    start: int
    end: int
    defined: str = ""
    measure: Measure | None = None


def formula_asked(question: str) -> AskedFormula | None:
    """Return the formula that a question asks for; None if for none, or for none that is understood."""
    said = parts_of_question(question)
    asking = _with_signs(_AS_SHARE.sub(f" {SHARE_OF} ", said.question), said.definitions)
    periods = list(periods_in(asking)) or list(periods_in(question)) or [LATEST]
    named = _named_in(asking, said.definitions)
    if not (named or said.definitions) or wants_yes_or_no(asking):
        return None
    start, end = (named[0].start, max(each.end for each in named)) if named else (0, 0)
    asked = _Asking(asking, asking[start:end], named, said.definitions, periods)
    try:
        ways = [asked.worded(choice) for choice in range(MOST_WAYS)]
    except NotUnderstood:
        return None
    worded = ways[0]
    if worded is None or worded.dimension not in (0, 1):
        return None
    is_percent = worded.dimension == 0 and _PERCENT.search(said.question) is not None
    measure = Measure(
        "",
        tuple(dict.fromkeys(each.way for each in ways if each)),
        is_percent=is_percent,
        is_amount=worded.dimension == 1,
        is_of_a_year=not part_of(question)
        and all(YEAR.fullmatch(period) or period == LATEST for period in periods),
    )
    about = _SAID_BESIDES.sub(" ", f"{asking[:start]} {asking[end:]}")
    return AskedFormula(measure, _without_spelt_out(about, said.definitions), said.places)


def _without_spelt_out(about: str, definitions: Mapping[str, str]) -> str:
    """Return words without those that a defined abbreviation stands for: “return on equity” for “ROE”."""
    words = about.split()
    initials = "".join(word[0] for word in words).lower()
    for name in definitions:
        if len(name) > 2 and (at := initials.find(name)) >= 0:
            return " ".join([*words[:at], *words[at + len(name) :]])
    return about


def _with_signs(asking: str, definitions: Mapping[str, str]) -> str:
    """Return a question with “net debt to EBITDA” as a quotient, sums and differences likewise."""
    joined = [(_TO, SHARE_OF)]
    if _BETWEEN.search(asking):
        joined.append((_AND, "−"))
    elif asks_for_sum(asking):
        joined.append((_AND, "+"))
    named = _named_in(asking, definitions)
    for each, following in reversed(list(pairwise(named))):
        for words, sign in joined:
            if words.fullmatch(asking, each.end, following.start):
                asking = f"{asking[: each.end]} {sign} {asking[following.start :]}"
    return asking


@dataclass(frozen=True, slots=True)
class _Asking:
    """What a question asks: `core` is from the first to the last thing that it names."""

    question: str
    core: str
    named: Sequence[_Named]
    definitions: Mapping[str, str]
    periods: Sequence[str]

    def worded(self, choice: int) -> Worded | None:
        """Return its formula, by one of the ways to work out each measure; None if it is a mere measure."""
        core, periods = self._core(), self.periods
        is_defined = core.casefold() in self.definitions
        if asks_for_mean(self.question) and len(periods) > 1 and not is_defined:
            if asks_for_change(self.question):
                # A mean of growth is no mean of amounts.
                return None
            return mean_of([self._of(core, [each], choice) for each in periods_through(periods)])
        is_formula = is_defined or any(each.defined for each in self.named) or len(self.named) > 1
        measure = self.named[0].measure if len(self.named) == 1 else None
        is_amount = measure is not None and measure.is_amount
        if asks_for_change(self.question) and (is_amount or (is_formula and len(periods) > 1)):
            before, *_, after = [*([earlier(periods[0])] if len(periods) == 1 else []), *periods]
            return combined(self._of(core, [after], choice), "−", self._of(core, [before], choice))
        # Of several periods one alone would be half an answer.
        is_of_one = is_defined or len(periods) == 1 or bool(periods_in(core))
        return self._of(core, periods, choice) if is_formula and is_of_one else None

    def _core(self) -> str:
        if len(self.named) == 1 and self.named[0].defined:
            return self.named[0].defined
        if len(self.named) <= 1 and len(set(self.definitions.values())) == 1:
            # The question may call otherwise what it defines.
            return next(iter(self.definitions))
        return self.core

    def _of(self, words: str, periods: Sequence[str], choice: int) -> Worded:
        return expression_in(words, self.definitions, periods, choice)


def _named_in(asking: str, definitions: Mapping[str, str]) -> list[_Named]:
    """Return what a question names, in its order; the longest of nested names counts."""
    found = sorted(
        _all_named(asking, definitions), key=lambda each: (each.start - each.end, not each.defined)
    )
    named: list[_Named] = []
    for each in found:
        if all(each.end <= other.start or other.end <= each.start for other in named):
            named.append(each)
    return sorted(named, key=lambda each: each.start)


def _all_named(asking: str, definitions: Mapping[str, str]) -> Iterator[_Named]:
    for name in definitions:
        if (at := _word_at(asking.lower(), name)) >= 0:
            yield _Named(at, at + len(name), name)
    for cue, measure in _CUES:
        # “DSO is defined as”, where the question says “days sales outstanding”.
        defined = next((name for name in definitions if cue.fullmatch(name)), "")
        for match in cue.finditer(asking):
            yield _Named(*match.span(), defined, None if defined else measure)
    for _, match in lines_named(asking):
        yield _Named(*match.span())


def _word_at(text: str, name: str) -> int:
    """Return where a name begins in a text as a word of its own, −1 if it does not."""
    at = text.find(name)
    while at >= 0 and (text[at - 1 : at].isalnum() or text[at + len(name) : at + len(name) + 1].isalnum()):
        at = text.find(name, at + 1)
    return at
