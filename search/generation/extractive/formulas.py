"""Writes a calculation as a formula that needs no words, so that it fits any language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from core.text.figures import Figure, places_of, write_figure
from search.generation.extractive.calculations import Calculation, CalculationKind
from search.generation.extractive.wording import escape_markdown

PLACES_OF_SHARE = 1
PLACES_OF_RATIO = 2


@dataclass(frozen=True, slots=True)
class Operand:
    """A figure with its name, its year if it has one, and its unit."""

    name: str
    year: str
    figure: Figure
    unit: str
    language: str | None

    @property
    def written(self) -> str:
        """The figure as it stands in the table; less than zero with a minus sign."""
        text = f"{self.figure.text} %" if self.figure.is_percent else self.figure.text
        return f"(−{text})" if self.figure.value < 0 else text


def formula(asked: Calculation, operands: Sequence[Operand]) -> str | None:
    """Return “NAME, YEARS: FORMULA = RESULT” in Markdown; None if it can't be computed: of shares and amounts
    nothing can.

    A mere difference is that of the larger to the smaller: 101, not −101.
    """
    if len({operand.figure.is_percent for operand in operands}) > 1:
        return None
    if asked.is_mere_difference:
        operands = sorted(operands, key=lambda operand: operand.figure.value, reverse=True)
    text = _WRITERS[asked.kind](asked, operands)
    return f"{escape_markdown(_label(asked, operands))}: {text}" if text else None


def _label(asked: Calculation, operands: Sequence[Operand]) -> str:
    names = list(dict.fromkeys(operand.name for operand in operands))
    if asked.kind is CalculationKind.RATIO and len(operands) > 2:  # a part of what all come to
        names = names[:1]
    years = list(dict.fromkeys(operand.year for operand in operands if operand.year))
    sign = {CalculationKind.SUM: " + ", CalculationKind.RATIO: " ÷ ", CalculationKind.DIFFERENCE: " − "}.get(
        asked.kind, ", "
    )
    is_course = asked.kind in (CalculationKind.GROWTH, CalculationKind.DIFFERENCE)
    between = sign if asked.is_mere_difference else " → " if is_course else ", "
    mean = "⌀ " if asked.kind is CalculationKind.MEAN else ""
    return ", ".join(filter(None, [mean + sign.join(names), between.join(years)]))


def _growth(asked: Calculation, operands: Sequence[Operand]) -> str | None:
    before, after = operands
    if before.figure.value <= 0:
        # A share of nothing, or of a loss, says nothing.
        return None
    share = (after.figure.value - before.figure.value) / before.figure.value * 100
    result = write_figure(share, PLACES_OF_SHARE, before.language)
    return f"({after.written} − {before.written}) ÷ {before.written} = {result} %"


def _difference(asked: Calculation, operands: Sequence[Operand]) -> str | None:
    # Of years the later less the earlier; of rows as the question names them.
    is_course = operands[0].year != operands[1].year and not asked.is_mere_difference
    one, other = operands[::-1] if is_course else operands
    return f"{one.written} − {other.written} = {_result(one.figure.value - other.figure.value, operands)}"


def _ratio(asked: Calculation, operands: Sequence[Operand]) -> str | None:
    part, *wholes = operands
    whole = sum((each.figure.value for each in wholes), Decimal())
    if whole == 0:
        return None
    ratio = part.figure.value / whole
    divisor = " + ".join(each.written for each in wholes)
    divisor = f"({divisor})" if len(wholes) > 1 else divisor
    if asked.is_ratio:
        result = write_figure(ratio, PLACES_OF_RATIO, part.language)
    else:
        result = f"{write_figure(ratio * 100, PLACES_OF_SHARE, part.language)} %"
    return f"{part.written} ÷ {divisor} = {result}"


def _sum(asked: Calculation, operands: Sequence[Operand]) -> str | None:
    total = sum((operand.figure.value for operand in operands), Decimal())
    return f"{' + '.join(operand.written for operand in operands)} = {_result(total, operands)}"


def _mean(asked: Calculation, operands: Sequence[Operand]) -> str | None:
    mean = sum((operand.figure.value for operand in operands), Decimal()) / len(operands)
    summands = " + ".join(operand.written for operand in operands)
    return f"({summands}) ÷ {len(operands)} = {_result(mean, operands, more_places=1)}"


def _result(value: Decimal, operands: Sequence[Operand], more_places: int = 0) -> str:
    """Return a result of the kind of its operands, with their places and unit."""
    places = max(places_of(operand.figure.value) for operand in operands) + more_places
    percent = " %" if operands[0].figure.is_percent else ""
    unit = f" ({operands[0].unit})" if operands[0].unit and not percent else ""
    return f"{write_figure(value, places, operands[0].language)}{percent}{unit}"


_WRITERS: dict[CalculationKind, Callable[[Calculation, Sequence[Operand]], str | None]] = {
    CalculationKind.GROWTH: _growth,
    CalculationKind.DIFFERENCE: _difference,
    CalculationKind.RATIO: _ratio,
    CalculationKind.SUM: _sum,
    CalculationKind.MEAN: _mean,
}
