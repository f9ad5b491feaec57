"""Figures that stand in sentences, each with what it measures, its year and its unit.

    “Amortization expense was $7.4 million and $9.3 million in fiscal 2009 and 2008, respectively.”
    ─▶ Amortization expense: 7.4 in 2009, 9.3 in 2008, in millions

Only what is sure is taken: the subject stands before the verb, and each amount has a year of its own. What
something rose by is not what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.text.analysis import terms
from core.text.figures import figure_of
from core.text.tables import is_table
from search.contexts import Context, Sentence
from search.generation.extractive.figures import MOST_FACTS, TableFigure
from search.generation.extractive.periods import PeriodReading, part_of
from search.generation.extractive.tables import FactCell, FactRow
from search.generation.extractive.wording import in_one_line

MOST_CHARS = 600
"""A longer sentence is none."""
MOST_NAME_TERMS = 6
_VERB = re.compile(
    r"\b(?:was|were|is|are|totall?ed|amounted to|reached"
    r"|(?:increased|decreased|declined|grew|rose|fell|came) to"
    r"|betrug(?:en)?|beträgt|belief(?:en)? sich|lag(?:en)? bei|(?:stieg|sank)(?:en)? auf|s['’]élevait|était"
    r"|fue(?:ron)?|ascendió|ascendieron)\b",
    re.IGNORECASE,
)
_BY_WHAT = re.compile(r"\b(?:up|down|higher|lower|höher|niedriger)\b", re.IGNORECASE)
"""Says that an amount is a difference: “Net sales were up $1.2 billion in 2022.”"""
_NAME_ENDS = re.compile(
    r"[,;:(]|\s(?:related to|excluding|from continuing operations|for|during|in)\b", re.IGNORECASE
)
_FIRST_WORDS = re.compile(
    r"\A(?:the|our|total consolidated|die|der|das|les?|la|el|los|las)\s+", re.IGNORECASE
)
_PART = re.compile(
    r"(?P<year>(?<![\d.,$€£¥-])(?:19|20)\d\d(?![\d.,]\d|\s?%))"
    r"|(?:(?P<currency>[$€£¥])\s?+)?+(?<![\d.,])(?P<digits>\d(?:[.,]?\d)*+)(?P<percent>\s?%)?+"
    r"(?:\s(?P<scale>thousand|million|billion|Tausend|Millionen|Milliarden|millions|milliards|millones)\b)?+",
)
_SCALE_NAMES = {
    **dict.fromkeys(("thousand", "tausend"), "in thousands"),
    **dict.fromkeys(("million", "millionen", "millions", "millones"), "in millions"),
    **dict.fromkeys(("billion", "milliarden", "milliards"), "in billions"),
}


def sentence_figures(
    contexts: Sequence[Context], reading: PeriodReading = PeriodReading.YEARS
) -> Iterator[TableFigure]:
    """Yield the figures of the sentences of all contexts but tables, in reading order.

    Of a quarter the year alone would tell too little.
    """
    left = MOST_FACTS
    for context in (context for context in contexts if not is_table(context.text)):
        for sentence in context.sentences:
            if reading is PeriodReading.FISCAL and part_of(sentence.text):
                continue
            for fact in _figures_of(context, sentence):
                if left > 0:
                    left -= 1
                    yield fact


def _figures_of(context: Context, sentence: Sentence) -> Iterator[TableFigure]:
    said = in_one_line(sentence.text)
    verb = _VERB.search(said) if len(said) <= MOST_CHARS else None
    if verb is None or _BY_WHAT.search(said):
        return
    name = _name(said[: verb.start()])
    measure = tuple(terms(name, context.language))
    if not 0 < len(measure) <= MOST_NAME_TERMS:
        return
    pairs = _amounts_of_years(said[verb.end() :])
    cells = tuple(FactCell(year, f"{amount['digits']}{amount['percent'] or ''}") for amount, year in pairs)
    for (amount, year), cell in zip(pairs, cells, strict=True):
        unit = _SCALE_NAMES.get((amount["scale"] or "").casefold(), "")
        figure = figure_of(cell.value, context.language)
        if figure is not None:
            row = FactRow(sentence.start, name, cells, unit, said)
            yield TableFigure(context, row, cell, name, measure, frozenset([year]), figure, frozenset([year]))


def _name(subject: str) -> str:
    """Return the words of a subject that name what is measured."""
    return _FIRST_WORDS.sub("", _NAME_ENDS.split(subject.strip(), maxsplit=1)[0]).strip()


def _amounts_of_years(predicate: str) -> list[tuple[re.Match[str], str]]:
    """Return each amount with its year; nothing if it is not sure which belongs to which.

    Either a year follows each amount, or as many years follow all amounts, in the same order.
    """
    parts = [part for part in _PART.finditer(predicate) if part["year"] or _is_amount(part)]
    amounts, years = (
        [part for part in parts if part["digits"]],
        [part["year"] for part in parts if part["year"]],
    )
    if not amounts or len(amounts) != len(years) or len(set(years)) != len(years):
        return []
    order = "".join("Y" if part["year"] else "A" for part in parts)
    count = len(amounts)
    return (
        list(zip(amounts, years, strict=True)) if order in ("AY" * count, "A" * count + "Y" * count) else []
    )


def _is_amount(part: re.Match[str]) -> bool:
    """Tell whether a number is an amount: with a currency, a scale or a percent sign, or of four digits."""
    has_unit = part["currency"] or part["percent"] or part["scale"]
    return bool(has_unit) or sum(map(str.isdigit, part["digits"])) > 3
