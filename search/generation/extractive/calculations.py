"""What a question wants computed: “By what percentage did revenue grow from 2021 to 2022?” asks for growth.

Cues of four languages tell the kind. What is computed with is found in tables (`computing.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from search.generation.extractive.periods import periods_in


class CalculationKind(StrEnum):
    """What is computed: of one row over two or more years, or of two or more rows of one year."""

    GROWTH = "growth"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    SUM = "sum"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Calculation:
    """`years` are the years or other periods of the question, ascending.

    `cues` is what tells the kind, `rest` all else of it.
    """

    kind: CalculationKind
    years: tuple[str, ...]
    rest: str
    cues: str
    is_yearly: bool = False
    """Whether it compares with the year before, without naming it."""
    before_whole: str | None = None
    """What stands before “percentage of”: “what percentage of B is A?” names the whole first."""
    is_ratio: bool = False
    """Whether it asks for a quotient rather than for a percentage."""
    is_mere_difference: bool = False
    """Whether it asks for a difference, and not by how much something is more or has grown."""


_CHANGE = (
    r"(?:go|goes|going|gone|went) (?:up|down)"
    r"|gr[eo]w(?:n|s|th|ing)?|increas\w*|decreas\w*|declin\w*|chang\w*|fell(?! (?:on|upon|into"
    r"|under|within|due))|fall(?:s|en)?|ris(?:e|es|en"
    r"|ing)|rose"
    r"|drop\w*|reduc(?:ed?|tion)|shr[iau]nk\w*|climb(?:s|ed)?|jump(?:s|ed)?|surg(?:es?|ed)|plung(?:es?|ed)"
    r"|expand(?:s|ed)?"
    r"|improv\w*|wachs\w*|wuchs|gewachsen|wachstum\w*|(?:ge|an)?stieg\w*|steiger\w*"
    r"|zunahme|zugenommen|abnahme|abgenommen|veränder\w*|gesunken|sank(?:en)?|fiel(?:en)?|gefallen"
    r"|rückgang|schrumpf\w*|geschrumpft|erhöh\w*|verringer\w*|zugelegt"
    r"|croissance|augment\w*|baiss\w*|diminu\w*|évolution|progress(?:é|ion)|recul(?:é|er)?|chuté?|réduit\w*"
    r"|hausse|creci\w*|aument\w*|disminu\w*|cambi(?:o|ó|ado)|variación|subid[ao]|subió"
    r"|bajó|bajaron|subieron|cayó|cayeron|caíd[oa]|redujo|incrementó"
)
_PERCENT = (
    r"percent\w*|per cent|%|rate|prozent\w*|wachstumsrate|pour ?cent\w*|taux|porcent\w*|por ciento|tasa"
)
_DIFFERENCE = (
    r"difference|net change|by what amount|by how (?:much|many)|exceed(?:s|ed)?"
    r"|how (?:much|many)(?: [\w-]+){0,3}? (?:more|fewer|less|higher|lower|larger|smaller|greater"
    r"|bigger|longer|shorter"
    r"|taller|older|younger|heavier|lighter)|(?:more|less|higher"
    r"|lower) than"
    r"|um wie ?viele?|wie ?viele?(?: [\w-]+){0,3}? (?:mehr|weniger)|differenz"
    r"|unterschied|de combien|combien(?: [\w-]+){0,4}? de (?:plus|moins)|différence"
    r"|cuánt[oa]s?(?: [\w-]+){0,3}? (?:más|menos)|diferencia"
)
_AMOUNT = rf"how much|cuánto|{_DIFFERENCE}"
_SHARE = (
    r"share|proportion|portion|fraction|ratio|anteil|verhältnis|part|(?<!par )rapport|proporción|parte"
    r"|relación"
)
_MEAN = (
    r"average|(?:the|an?|overall|arithmetic) mean|mean(?= (?:of|over|for|across|value)\b)|durchschnitt\w*"
    r"|im schnitt|mittelwert|mittel|moyenne?s?|promedio|(?:la|de|en|una|in) media|(?<=\w )medi[oa]s?(?= d)"
    r"|gemiddelde?"
)
_SUM = (
    r"sum|total (?:amount )?of(?=.{0,80}?\b(?:19|20)\d\d,? and (?:19|20)\d\d\b)"
    r"|combined|(?:al)?together|(?:adds?|added) up"
    r"|(?<!difference )(?<!change )(?<!increase )(?<!decrease )(?<!growth )"
    r"(?<!decline )in (?:total|all)|cumulative(?:ly)?"
    r"|(?<!en )(?<!de )(?<!le )(?<!la )(?<!les )plus(?!.{0,60}\bqu)|summe|zusammen|insgesamt|somme"
    r"|ensemble|au total|en tout|suma|junt[oa]s|en total|samen|in totaal|insieme"
)
_YEARLY = (
    r"year[- ]over[- ]year|yoy|(?:prior|previous|last|preceding|year)[- ](?:year|ago)|year before|vorjahr\w*"
    r"|jahr davor"
    r"|année précédente|an dernier|año anterior"
)
_OF = r"of|von|des?|der|du|del?"


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


_CUES = {
    name: _cue(words)
    for name, words in {
        "change": _CHANGE,
        "percent": _PERCENT,
        "amount": _AMOUNT,
        "difference": _DIFFERENCE,
        "share": _SHARE,
        "mean": _MEAN,
        "sum": _SUM,
        "yearly": _YEARLY,
    }.items()
}
_BY_HOW_MUCH = _cue(
    r"by (?:how (?:much|many)|what (?:amount|percent\w*|share|margin))|um wie ?viele?|de combien|en cuánto"
)
_CHANGED = _cue(
    r"up|down|more|less|fewer|higher|lower|larger|smaller|longer|shorter|better|worse|ahead|behind|double[ds]?|halved"
    r"|tripled?|lost|gained|added|won|beat\w*|outperform\w*|mehr|weniger|höher|niedriger|verdoppel\w*|plus|moins"
    r"|más|menos"
)
_EACH = _cue(
    r"averag\w*|per|each|every|a (?:year|month|week|day|person|store)|typical\w*|je|pro|jede[rsn]?|par|chaque"
    r"|por|cada"
)
_WHOLE = _cue(rf"(?:{_PERCENT}|{_SHARE})\s++(?:{_OF})")
_MERE_DIFFERENCE = _cue(r"differences?|differenz|unterschied|différence|diferencia")
_RATIO = _cue(r"ratio|verhältnis|rapport|relación")


def calculation_of(question: str) -> Calculation | None:
    """Return what a question wants computed, None if nothing."""
    found = {name for name, cue in _CUES.items() if cue.search(question)}
    years = periods_in(question)
    kind = _kind(found, years)
    if kind is None:
        return None
    rest, cues = question, " ".join(match for cue in _CUES.values() for match in cue.findall(question))
    for cue in _CUES.values():
        rest = cue.sub(" ", rest)
    is_ratio = kind is CalculationKind.RATIO and _RATIO.search(question) is not None
    whole = None if is_ratio else _WHOLE.search(question)
    before_whole = question[: whole.start()] if whole else None
    is_mere = (
        kind is CalculationKind.DIFFERENCE
        and "change" not in found
        and _MERE_DIFFERENCE.search(question) is not None
    )
    return Calculation(kind, years, rest, cues, "yearly" in found, before_whole, is_ratio, is_mere)


def asks_for_change(question: str) -> bool:
    """Tell whether a question, or a word of it, is about a change: of growth, a decline, an improvement."""
    return _CUES["change"].search(question) is not None


def asks_for_difference(question: str) -> bool:
    """Tell whether a question is about a change or a difference, and not about amounts alone."""
    return asks_for_change(question) or _CUES["difference"].search(question) is not None


def lacks_calculation(question: str, text: str) -> bool:
    """Tell whether a question asks by how much something changed or differs, or for an average, and a text
    speaks of no such thing: what could be worked out from its figures is not worked out."""
    asks_by_how_much = _BY_HOW_MUCH.search(question) is not None
    if asks_by_how_much and not (asks_for_difference(text) or _CHANGED.search(text)):
        return True
    return asks_for_mean(question) and not (asks_for_mean(text) or _EACH.search(text))


def asks_for_sum(question: str) -> bool:
    """Tell whether a question wants several amounts together."""
    return _CUES["sum"].search(question) is not None


def asks_for_mean(question: str) -> bool:
    """Tell whether a question speaks of an average."""
    return _CUES["mean"].search(question) is not None


def _kind(found: set[str], years: tuple[str, ...]) -> CalculationKind | None:
    if "change" in found and "percent" in found:
        return CalculationKind.GROWTH
    if "change" in found and ("amount" in found or "yearly" in found or len(years) > 1):
        return CalculationKind.DIFFERENCE
    if {"percent", "difference"} <= found and ("yearly" in found or len(years) > 1):
        return CalculationKind.GROWTH
    if "mean" in found:
        return CalculationKind.MEAN
    if "share" in found or "percent" in found:
        return CalculationKind.RATIO
    # “How many more are there in total?” asks for no sum.
    if "difference" in found:
        return CalculationKind.DIFFERENCE
    return CalculationKind.SUM if "sum" in found else None
