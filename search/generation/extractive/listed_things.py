"""What is worked out between things that a table lists, in its rows or in its columns.

    “How many points better is GateLite than LoRA on RailAxle?”

    | Method   | TurbineLog | RailAxle |
    | LoRA     | 72.8       | 65.7     |
    | GateLite | 75.0       | 70.8     |   ─▶   GateLite − LoRA, RailAxle: 70.8 − 65.7 = 5.1 <source_1>

The things may be called anything: models, versions, towns, years. What is said of companies and their periods
is computed elsewhere (`computing.py`, `cell_answers.py`).

Refuses rather than guesses: the question must name the things, and one row or column in which each has one
figure, all in one unit. All else but one word must be said in the table or around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.calculations import Calculation, CalculationKind, calculation_of
from search.generation.extractive.computing import formula_and_rows
from search.generation.extractive.figures import TableFigure
from search.generation.extractive.formulas import Operand
from search.generation.extractive.named_cells import FiguresNamed, NoteTable, Words, note_tables
from search.generation.extractive.outstanding.words import TOTAL
from search.generation.extractive.periods import PeriodReading
from search.generation.extractive.yes_no import wants_yes_or_no

_OF_FIGURE = re.compile(r"[\d.,'’\s()−–-]+")
MOST_THINGS = 12
FEWEST_DIGITS = 2
"""A number of fewer digits names nothing."""
_THAN = re.compile(r"\b(?:than|als|que|di|dan|do que)\s", re.IGNORECASE)
_MUCH_THAN = {
    "how (?:much|many)": "than",
    "um wie ?viel": "als",
    "de combien": "que",
    "cuánt[oa]s?": "que",
    "di quanto": "di",
    "hoeveel": "dan",
}
_COMPARES = re.compile(
    "|".join(rf"\b{much}\b[^?]{{0,120}}?\b{than}\b" for much, than in _MUCH_THAN.items()), re.IGNORECASE
)
_POINTS = re.compile(
    r"\b(?:percentage points?|prozentpunkte?n?|points? de pourcentage|puntos porcentuales)\b", re.IGNORECASE
)
_PERCENT = re.compile(
    r"\b(?:percent|per cent|percentage|prozent|pour ?cent|por ciento|procent)\b|%", re.IGNORECASE
)
_RANGE = re.compile(
    r"\b(?:from|between|von|vom|zwischen|entre|depuis|desde|de)\b|\d\s?[–-]\s?\d", re.IGNORECASE
)
_PROPER = re.compile(r"(?<=\s)[A-ZÀ-ÖØ-Þ][\w&-]+")
"""A word with a capital, not the first one; in German any noun has one."""
_ALL = re.compile(
    r"\b(?:all|both|every|(?:al)?together|combined|overall|alle[nr]?|beide[nr]?|zusammen|insgesamt|tous|toutes"
    r"|ensemble|todos|todas|juntos|juntas)\b",
    re.IGNORECASE,
)
_COUNTS = {
    word: number
    for number, words in {
        2: "two both zwei beide beiden deux dos ambos ambas twee due",
        3: "three drei trois tres drie tre",
        4: "four vier quatre cuatro quattro",
        5: "five fünf cinq cinco vijf cinque",
        6: "six sechs seis zes sei",
    }.items()
    for word in words.split()
}
_OF_ADJECTIVES = {
    "heavier|lighter|schwerer|leichter|lourde?|légère?|pesad[oa]": "weight mass gewicht masse poids peso",
    "dearer|cheaper|more expensive|teurer|billiger|günstiger|chère?|car[oa]|barat[oa]": (
        "price cost preis kosten prix precio"
    ),
    "taller|higher|höher": "height höhe hauteur altura",
    "longer|shorter|länger|kürzer|long(?:ue)?|larg[oa]": "length duration länge dauer longueur longitud",
    "older|younger|älter|jünger": "age alter âge edad",
    "faster|slower|schneller|langsamer|rapides?|rápid[oa]": "speed time geschwindigkeit zeit vitesse",
    "bigger|larger|smaller|größer|kleiner|grande?|petite?": "size area größe fläche surface tamaño",
}
"""What rows and columns are called that adjectives compare."""
_COMPARING = frozenset(
    term
    for language in ("en", "de", "fr", "es")
    for term in terms(
        "better worse more less fewer higher lower larger smaller bigger longer shorter faster slower heavier"
        " lighter cheaper expensive dearer older younger greater taller points point go goes went gone down"
        " up drop dropped rise average mean total together altogether combined have has does reach cost costs"
        " add large small version model per thousand million billion euro euros dollar dollars pound pounds"
        " besser schlechter mehr weniger höher niedriger größer kleiner länger kürzer schneller langsamer"
        " schwerer leichter teurer billiger günstiger älter jünger punkte kostet kosten tausend million"
        " meilleur plus moins cher chère lourd léger coûte mejor peor más menos caro barato cuesta",
        language,
    )
)
"""What compares, units, and what such a question says besides."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """A table as it stands, or turned: the things are its rows, or its columns."""

    figures: Mapping[tuple[str, str], Sequence[TableFigure]]
    """By thing and measure."""

    @property
    def things(self) -> list[str]:
        return list(dict.fromkeys(thing for thing, _ in self.figures))

    def measures(self, things: Sequence[str]) -> list[str]:
        """Return what is measured of all of some things."""
        measures = dict.fromkeys(measure for _, measure in self.figures)
        return [each for each in measures if all((thing, each) in self.figures for thing in things)]


def answer_by_things(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the formula and the rows that it is computed from, as Markdown; nothing if it is not sure."""
    asked = None if wants_yes_or_no(question) else _calculation(question)
    if asked is None:
        return []
    found = [
        (table, operands)
        for table in note_tables(contexts, PeriodReading.YEARS)
        for operands in _operands(asked, question, table)
    ]
    return formula_and_rows(asked, *_written(asked, found[0][1])) if len(found) == 1 else []


def _calculation(question: str) -> Calculation | None:
    """Return what is to be computed between two things or more."""
    found = calculation_of(question)
    if _POINTS.search(question):
        kind = CalculationKind.DIFFERENCE
    elif _COMPARES.search(question):
        kind = CalculationKind.GROWTH if _PERCENT.search(question) else CalculationKind.DIFFERENCE
    elif found is not None and found.kind is not CalculationKind.RATIO:
        kind = found.kind
    else:
        return None
    cues = found.cues if found else ""
    return Calculation(kind, (), question, cues, is_mere_difference=kind is CalculationKind.DIFFERENCE)


# --- Operands ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Named:
    """A figure with the thing that it is of, and what is measured."""

    thing: str
    measure: str
    fact: TableFigure


def _operands(asked: Calculation, question: str, table: NoteTable) -> Iterator[list[_Named]]:
    """Yield the figures to compute with, in their order, for each way to read a table that is sure."""
    for axis in (_by_rows(table), _by_columns(table)):
        for things, needs_full_name in _things(asked, question, axis, table):
            measure = _measure(question, axis.measures(things), things, table, is_full=needs_full_name)
            if measure is None:
                continue
            facts = [axis.figures[thing, measure] for thing in things]
            named = [_Named(thing, measure, of[0]) for thing, of in zip(things, facts, strict=True)]
            if all(len(of) == 1 for of in facts) and _fit(asked, question, named, table):
                yield named
                break


def _by_rows(table: NoteTable) -> _Axis:
    figures: dict[tuple[str, str], list[TableFigure]] = {}
    for fact in table.figures:
        figures.setdefault((fact.row.name, fact.cell.column), []).append(fact)
    return _Axis(figures)


def _by_columns(table: NoteTable) -> _Axis:
    return _Axis({(column, row): facts for (row, column), facts in _by_rows(table).figures.items()})


def _things(
    asked: Calculation, question: str, axis: _Axis, table: NoteTable
) -> Iterator[tuple[list[str], bool]]:
    """Yield the things that a question means, and whether what is measured needs its full name.

    Who speaks of all, or of as many as there are, need not name them.
    """
    language = table.language
    named = _in_order(question, axis.things, language)
    is_of_many = asked.kind in (CalculationKind.SUM, CalculationKind.MEAN)
    if len(named) == 2 and is_of_many and _RANGE.search(question):
        first, last = sorted(map(axis.things.index, named))
        yield axis.things[first : last + 1], False
    elif len(named) == 2 or (is_of_many and 2 < len(named) <= MOST_THINGS):
        yield named, False
    elif is_of_many and not named:
        things = [thing for thing in axis.things if not TOTAL.match(thing)]
        counts = {_COUNTS[word] for word in re.findall(r"\w+", question.casefold()) if word in _COUNTS}
        is_all = len(things) in counts or (not counts and _ALL.search(question) is not None)
        if is_all and 2 <= len(things) <= MOST_THINGS and len(things) == len(axis.things):
            yield things, True


def _in_order(question: str, things: Sequence[str], language: str | None) -> list[str]:
    """Return the things that a question names, in its order: with all their words, or with a proper name.

    “Voltara” is “Voltara Trek 700”, if no other one is called so.
    """
    said = [frozenset(terms(word, language)) for word in question.split()]
    words = frozenset[str]().union(*said)
    # In German any noun has a capital.
    proper = frozenset(terms(" ".join([] if language == "de" else _PROPER.findall(question)), language))
    of = {thing: own for thing in things if (own := _words_of(thing, language))}
    named = {thing: own for thing, own in of.items() if own <= words or proper & _alone(thing, of)}
    whole = {thing: own for thing, own in named.items() if not any(own < other for other in named.values())}

    def place(thing: str) -> int:
        telling = (_alone(thing, whole) or whole[thing]) & words
        return next(at for at, each in enumerate(said) if each & telling)

    return sorted(whole, key=place)


def _alone(thing: str, of: Mapping[str, Words]) -> Words:
    """Return the words of a thing that no other one has."""
    return of[thing].difference(*(words for other, words in of.items() if other != thing))


def _words_of(label: str, language: str | None) -> Words:
    """Return the words of a name, without what stands in parentheses; nothing if it is but a digit."""
    words = frozenset(terms(re.sub(r"\([^()]*\)", " ", label), language))
    tells = any(any(map(str.isalpha, word)) or len(word) >= FEWEST_DIGITS for word in words)
    return words if tells else frozenset()


def _measure(
    question: str, measures: Sequence[str], things: Sequence[str], table: NoteTable, *, is_full: bool
) -> str | None:
    """Return the one of several rows or columns that a question means; None if it is not sure."""
    language = table.language
    of_things = frozenset[str]().union(*(_words_of(thing, language) for thing in things))
    adjectives = " ".join(
        names
        for cue, names in _OF_ADJECTIVES.items()
        if re.search(rf"\b(?:{cue})\b", question, re.IGNORECASE)
    )
    said = frozenset(terms(f"{question} {adjectives}", language)) - of_things
    fits = {each: (own <= said, len(own & said)) for each in measures if (own := _words_of(each, language))}
    if len(measures) == 1 and not is_full:
        return measures[0]
    best = max(fits.values(), default=(False, 0))
    meant = [each for each, fit in fits.items() if fit == best]
    return meant[0] if len(meant) == 1 and best[1] and (best[0] or not is_full) else None


def _fit(asked: Calculation, question: str, named: Sequence[_Named], table: NoteTable) -> bool:
    """Tell whether figures have one unit, and all but one of the question's words are said of them."""
    if len({_unit_of(each.fact).casefold() for each in named}) > 1:
        return False
    language = table.language
    said = FiguresNamed(question, asked.cues).needed(language) - _COMPARING
    known = frozenset[str]().union(
        table.words_around, *(frozenset(terms(f"{each.thing} {each.measure}", language)) for each in named)
    )
    known |= frozenset(terms(" ".join(_COUNTS), language))
    return len(said - known) <= 1


def _unit_of(fact: TableFigure) -> str:
    return _OF_FIGURE.sub("", fact.cell.value)


# --- The answer --------------------------------------------------------------------------------------------


def _written(asked: Calculation, named: Sequence[_Named]) -> tuple[list[Operand], list[TableFigure]]:
    """Return operands as formulas take them, in their order, and the figures that they are."""
    if asked.kind is CalculationKind.GROWTH:
        named = _from_base(asked.rest, named)
    of_things = asked.kind is CalculationKind.DIFFERENCE
    operands = [
        Operand(
            each.thing if of_things else each.measure,
            each.measure if of_things else each.thing,
            each.fact.figure,
            each.fact.row.unit or _unit_of(each.fact).strip("%$€£¥"),
            each.fact.context.language,
        )
        for each in named
    ]
    return operands, [each.fact for each in named]


def _from_base(question: str, named: Sequence[_Named]) -> Sequence[_Named]:
    """Return two figures, the base first: what stands behind “than” or “from”, or the earlier year."""
    if all(each.thing.isdigit() for each in named):
        return sorted(named, key=lambda each: each.thing)
    return named[::-1] if _THAN.search(question) else named
