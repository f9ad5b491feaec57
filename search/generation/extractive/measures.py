"""Measures that reports are judged by, as formulas over the lines of their statements.

“What was the gross margin in 2022?” asks for gross profit ÷ revenue. A line has other names in other reports;
the first name that a report has counts. What the figures are is found in tables (`measuring.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from search.generation.extractive.calculations import calculation_of
from search.generation.extractive.line_names import LINES
from search.generation.extractive.yes_no import direction_of, wants_yes_or_no


@dataclass(frozen=True, slots=True)
class Measure:
    """`ways` are formulas over lines, the usual one first: “{gross_profit} ÷ {revenue}”."""

    cue: str
    ways: tuple[str, ...]
    is_percent: bool = False
    is_amount: bool = False
    """Whether the result is an amount in the unit of its operands, or else a ratio."""
    is_line: bool = False
    """Whether it is nothing but a line of a statement."""
    is_better_low: bool = False
    """Whether it improves by falling."""
    is_of_a_year: bool = False
    """Whether its formula holds for figures of a whole year only."""


MEASURES = (
    Measure(
        r"gross (?:profit )?(?:margin|rate)s?|bruttomarge|marge brute|margen bruto",
        ("{gross_profit} ÷ {revenue}", "({revenue} − {cost}) ÷ {revenue}"),
        is_percent=True,
    ),
    Measure(
        r"ebitda[- ]margins?|ebitda[- ]marge",
        ("({operating_income} + {depreciation}) ÷ {revenue}",),
        is_percent=True,
    ),
    Measure(r"ebitda", ("{operating_income} + {depreciation}",), is_amount=True),
    Measure(
        r"operating (?:profit |income )?margins?|ebit[- ]marg(?:ins?|e)|operative marge"
        r"|marge opérationnelle|margen operativo",
        ("{operating_income} ÷ {revenue}",),
        is_percent=True,
    ),
    Measure(
        r"(?:net )?profit margins?|net (?:income )?margins?|nettomarge|umsatzrendite|marge nette|margen neto",
        ("{net_income} ÷ {revenue}",),
        is_percent=True,
    ),
    Measure(
        r"working capital|betriebskapital|fonds de roulement|capital de trabajo",
        ("{current_assets} − {current_liabilities}",),
        is_amount=True,
    ),
    Measure(r"current ratio|working capital ratio", ("{current_assets} ÷ {current_liabilities}",)),
    Measure(
        r"(?:operating )?cash ?flow ratio", ("{operating_cash} ÷ {current_liabilities}",), is_of_a_year=True
    ),
    Measure(
        r"(?:quick|acid[- ]test) ratio",
        ("({current_assets} − {inventories}) ÷ {current_liabilities}",),
    ),
    Measure(
        r"debt[- ](?:to[- ])?equity(?: ratio)?|verschuldungsgrad",
        ("{debt} ÷ {equity}", "({short_debt} + {long_debt}) ÷ {equity}", "{liabilities} ÷ {equity}"),
        is_better_low=True,
    ),
    Measure(r"total debt", ("{debt}", "{short_debt} + {long_debt}"), is_amount=True, is_better_low=True),
    Measure(
        r"equity[- ](?:to[- ]assets[- ])?ratio|eigenkapitalquote|ratio d.autonomie financière"
        r"|ratio de (?:fondos|capital(?:es)?) propios",
        ("{equity} ÷ {assets}",),
        is_percent=True,
    ),
    Measure(
        r"debt[- ](?:to[- ])?assets?(?: ratio)?|debt ratio",
        ("{liabilities} ÷ {assets}",),
        is_better_low=True,
    ),
    Measure(
        r"days sales outstanding|dso",
        ("{receivables} ÷ {revenue} × 365",),
        is_better_low=True,
        is_of_a_year=True,
    ),
    Measure(r"days payables? outstanding|dpo", ("{payables} ÷ {cost} × 365",), is_of_a_year=True),
    Measure(
        r"days inventor(?:y|ies) outstanding|dio",
        ("{inventories} ÷ {cost} × 365",),
        is_better_low=True,
        is_of_a_year=True,
    ),
    Measure(
        r"return on (?:total )?assets|roa|gesamtkapitalrendite",
        ("{net_income} ÷ {assets}",),
        is_percent=True,
        is_of_a_year=True,
    ),
    Measure(
        r"return on (?:stockholders' |shareholders' )?equity|roe|eigenkapitalrendite",
        ("{net_income} ÷ {equity}",),
        is_percent=True,
        is_of_a_year=True,
    ),
    Measure(
        r"free cash ?flow conversion|fcf conversion",
        ("({operating_cash} − {capital_expenditure}) ÷ {net_income}",),
        is_percent=True,
    ),
    Measure(
        r"free cash ?flows?|fcf|freie[rn]? cash ?flow",
        ("{operating_cash} − {capital_expenditure}",),
        is_amount=True,
    ),
    Measure(
        r"effective (?:income )?tax rate|effektive[rn]? steuersatz",
        ("{tax} ÷ {pretax}",),
        is_percent=True,
        is_better_low=True,
    ),
    Measure(r"interest coverage(?: ratio)?", ("{operating_income} ÷ {interest}",)),
    Measure(r"inventory turnover(?: ratio)?", ("{cost} ÷ {inventories}",), is_of_a_year=True),
    Measure(
        r"(?:dividend )?pay ?out ratio|ausschüttungsquote",
        ("{dividends} ÷ {attributable_income}",),
        is_percent=True,
        is_of_a_year=True,
    ),
    Measure(
        r"(?:earnings )?retention (?:ratio|rate)",
        ("1 − {dividends} ÷ {attributable_income}",),
        is_percent=True,
        is_of_a_year=True,
    ),
    Measure(
        r"cash conversion cycle|ccc",
        ("{inventories} ÷ {cost} × 365 + {receivables} ÷ {revenue} × 365 − {payables} ÷ {cost} × 365",),
        is_better_low=True,
        is_of_a_year=True,
    ),
    Measure(r"fixed[- ]asset turnover(?: ratio)?", ("{revenue} ÷ {equipment}",), is_of_a_year=True),
    Measure(r"asset turnover(?: ratio)?", ("{revenue} ÷ {assets}",), is_of_a_year=True),
)
_OF_LINES = tuple(
    Measure(line.cue, (f"{{{key}}}",), is_amount=True, is_line=True)
    for key, line in LINES.items()
    if line.cue
)
_CUES = tuple(
    (re.compile(rf"(?<!\w)(?:{measure.cue})(?!\w)", re.IGNORECASE), measure)
    for measure in (*MEASURES, *_OF_LINES)
)
_AMOUNT = re.compile(
    r"\A\W*(?:(?:in|at|for|during|over|as of|on|by|im|am|zum|en|au|à|al) [^?]{2,60}?,? )?"
    r"(?:what(?:['’]s| is| are| was| were| amounts?| did .{0,60}?\b(?:spend|pay|earn|invest"
    r"|generate|report|owe)\b)"
    r"|how (?:much|high|large|big|(?:does|do|did|has|have) .{0,80}?\bcompared?\b)|wie (?:hoch|viel|groß)"
    r"|was (?:ist|war)|(?:auf )?welche[nrs]? (?:wert|betrag|höhe|summe)"
    r"|how many (?:thousand|million|billion)s?"
    r"|cuál(?:es)?|(?:a )?qué (?:valor|importe)|cuánt[oa]s?|a cuánto|quel(?:le)?s?|combien|à combien)\b",
    re.IGNORECASE,
)
"""How a question begins that wants an amount and no reason."""
_AND = re.compile(r",?\s?(?:and|und|et|y|as well as|,)\s(?:its |the |their )?", re.IGNORECASE)


Named = tuple[Measure, re.Match[str]]
"""A measure or line, and where a question names it."""


def measure_of(question: str) -> Named | None:
    """Return the measure or line that a question names, and where; None if none.

    Of nested names the longest counts. A measure is worth more than the lines that are named beside it.
    """
    return max(_named(question), key=lambda each: (not each[0].is_line, len(each[1][0])), default=None)


def measures_of(question: str) -> list[Named]:
    """Return what `measure_of` does, and what is named side by side with it: “gross and operating margin”."""
    chief = measure_of(question)
    if chief is None:
        return []
    beside = sorted(
        (each for each in _named(question) if each[0].is_line == chief[0].is_line),
        key=lambda each: each[1].start(),
    )
    at = next(number for number, each in enumerate(beside) if each[1].span() == chief[1].span())
    first = last = at
    while first and _AND.fullmatch(question, beside[first - 1][1].end(), beside[first][1].start()):
        first -= 1
    while last + 1 < len(beside) and _AND.fullmatch(
        question, beside[last][1].end(), beside[last + 1][1].start()
    ):
        last += 1
    return beside[first : last + 1]


def _named(question: str) -> list[Named]:
    wants_amount = _AMOUNT.search(question) is not None or (
        wants_yes_or_no(question) and direction_of(question) is not None
    )
    found = [(cue.search(question), measure) for cue, measure in _CUES if wants_amount or not measure.is_line]
    named = [(measure, match) for match, measure in found if match]
    return [each for each in named if not any(_is_within(each[1], other) for _, other in named)]


def _is_within(match: re.Match[str], other: re.Match[str]) -> bool:
    return other.start() <= match.start() and match.end() <= other.end() and len(other[0]) > len(match[0])


def words_of_measures(question: str) -> frozenset[str]:
    """Return the words, in small letters, by which a question names measures and lines."""
    named = (match[0] for cue, _ in _CUES for match in cue.finditer(question))
    return frozenset(word for name in named for word in re.findall(r"\w+", name.casefold()))


def wants_line(question: str) -> bool:
    """Tell whether a question wants the amount of a line of a statement."""
    named = measure_of(question)
    return named is not None and named[0].is_line


def wants_mere_line(question: str) -> bool:
    """Tell whether a question names a line, and wants something computed of it or of it and another one."""
    return wants_line(question) and not wants_yes_or_no(question) and calculation_of(question) is not None


def lines_of(way: str) -> list[str]:
    """Return the keys of the lines of a formula, in its order, each once; “{revenue@2022}” has “revenue”."""
    return list(dict.fromkeys(re.findall(r"{(\w+)(?:@[^{}]*)?}", way)))
