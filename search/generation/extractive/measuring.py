"""Works out a measure that a question names from the statements among the contexts, with its operands cited.

    “What was the gross margin in 2022?”
    ─▶ Gross profit ÷ Total revenue, 2022: 15,441 ÷ 17,606 = 87.7 % <source_1>

Refuses rather than guesses: all lines must stand in tables of one document that the question is about, in one
column each. A measure that a report states itself is quoted, not computed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from itertools import groupby, pairwise

from core.text.figures import places_of, write_figure
from search.citations.formulas import Expression, NotAFormula
from search.contexts import Context
from search.generation.extractive.asked_formulas import AskedFormula
from search.generation.extractive.business_segments import figures_of_segment
from search.generation.extractive.computing import operand_of
from search.generation.extractive.expressions import LATEST, of_period
from search.generation.extractive.figures import (
    Name,
    TableFigure,
    periods_to_try,
    rows_behind,
    sure_figure,
    table_figures,
    without_changes,
)
from search.generation.extractive.formulas import PLACES_OF_RATIO, PLACES_OF_SHARE
from search.generation.extractive.line_names import LINES
from search.generation.extractive.lines import (
    UNSIGNED,
    is_of_a_part,
    is_part_of,
    is_statement,
    lines_named,
    name_of,
    plain_name,
)
from search.generation.extractive.measures import Measure, Named, lines_of, measures_of
from search.generation.extractive.parts_of_lines import part_of_line
from search.generation.extractive.periods import (
    is_of,
    is_of_months,
    reading_of,
    words_of,
)
from search.generation.extractive.subjects import is_about, is_narrowed
from search.generation.extractive.wording import escape_markdown
from search.generation.extractive.yes_no import answer_by_change, compares_earlier, with_answer

_IMPROVES = re.compile(r"\b(?:improv|better|verbesser|besser|amélior|meilleur|mejor)", re.IGNORECASE)
_ONES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}

Operands = Mapping[str, TableFigure]
"""A figure for each line of a formula, by the key of the line and its period: “revenue@2022”."""


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """A formula over figures."""

    way: str
    operands: Operands


def measured(question: str, contexts: Sequence[Context], segment: str | None = None) -> list[str]:
    """Return the formulas of a named measure and the rows behind them, as Markdown; nothing if not sure.

    Of a business segment only its own figures count, and the question is without its name
    (`business_segments.py`).
    """
    named = measures_of(question)
    found = [_measured(each, question, named, contexts, segment) for each in named]
    return [line for lines in found for line in lines] if all(found) else next(filter(None, found), [])


def _measured(
    wanted: Named, question: str, named: Sequence[Named], contexts: Sequence[Context], segment: str | None
) -> list[str]:
    """Return what `measured` does of one of the measures that a question names side by side."""
    measure, cue = wanted
    asked = question
    keys = {key for each, _ in named for key in lines_of(each.ways[0])}
    # A line may be called by two names: “owe its suppliers (trade payables)”.
    also = [match[0] for key, match in lines_named(question) if key in keys]
    for called in (*(each[0] for _, each in named), *also):
        asked = asked.replace(called, " ")
    for of_one, facts in of_documents(question, contexts, segment):
        is_stated = not measure.is_line and _is_stated(cue[0], facts)
        is_other = is_narrowed(question, cue, of_one[0])
        part = part_of_line(measure, cue, question, facts) if segment is None else []
        if part and is_about(asked, of_one, part[0].name):
            return list(rows_behind(part))
        if is_stated or is_other or not is_about(asked, of_one):
            continue
        if found := worked_out(measure, question, facts if segment else of_whole(question, facts)):
            return _formulas_and_rows(measure, found, question)
    return []


def as_asked(asked: AskedFormula, question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the formula that a question gives, worked out, and the rows behind it; nothing if not sure."""
    for of_one, facts in of_documents(question, contexts):
        if not is_about(asked.about, of_one):
            continue
        if found := worked_out(asked.measure, question, of_whole(question, facts)):
            return _formulas_and_rows(asked.measure, found, question, asked.places)
    return []


def of_documents(
    question: str, contexts: Sequence[Context], segment: str | None = None
) -> Iterator[tuple[list[Context], list[TableFigure]]]:
    """Yield the contexts of each document, best first, and the figures of its tables.

    Those of a business segment once for each kind of place where they stand.
    """
    for _, beside in groupby(sorted(contexts, key=_document_key), _document_key):
        of_one = sorted(beside, key=lambda context: context.rank)
        if segment is None:
            yield of_one, without_changes(table_figures(of_one, reading_of(question)))
            continue
        for facts in figures_of_segment(segment, of_one, reading_of(question)):
            yield of_one, facts


def of_whole(question: str, facts: Sequence[TableFigure]) -> list[TableFigure]:
    """Return the figures of the whole company, unless a question speaks of a part itself."""
    if is_of_a_part([question]):
        return list(facts)
    return [fact for fact in facts if not is_of_a_part(fact.context.headings)]


def _document_key(context: Context) -> str:
    return str(getattr(context, "document_id", context.document_name))


def _is_stated(name: str, facts: Iterable[TableFigure]) -> bool:
    """Tell whether a report has a row that is called like the measure and holds no mere amount."""
    stated = plain_name(name)
    return any(plain_name(fact.name) == stated and fact.figure.value < 1000 for fact in facts)


# --- Operands ----------------------------------------------------------------------------------------------


def worked_out(measure: Measure, question: str, facts: Sequence[TableFigure]) -> list[WorkedOut]:
    """Return the measure for each year that is asked for, ascending; nothing if one of them is not sure."""
    words = words_of(question)
    by_line = {key: _of_line(key, facts) for way in measure.ways for key in lines_of(way)}
    parts = {key: _parts_of(key, facts) for key, found in by_line.items() if not found}
    by_line |= {each: found for of_one in parts.values() for each, found in of_one.items()}
    of_statements = {
        key: [fact for fact in figures if _is_of_statement(key, fact)] for key, figures in by_line.items()
    }
    # What other tables call so may be of a part of the company, or of another one.
    for lines in (of_statements, by_line):
        for way in measure.ways:
            for some in _of_periods(way, question, lines):
                found = [_with_figures(measure, _with_sums(each, parts), lines, words) for each in some]
                if found and all(found):
                    return [each for each in found if each is not None]
    return []


def _of_periods(way: str, question: str, lines: Mapping[str, Sequence[TableFigure]]) -> Iterator[list[str]]:
    """Yield a formula for each of the periods to try, unless it names its own."""
    if "@" in way and f"@{LATEST}" not in way:
        yield [way]
        return
    for periods in periods_to_try(question, [fact for key in lines_of(way) for fact in lines[key]]):
        yield [of_period(way.replace(f"@{LATEST}", ""), period) for period in periods]


def _of_line(key: str, facts: Sequence[TableFigure]) -> list[TableFigure]:
    """Return the figures of a line: of each table those of its best name, of statements before other tables.

    A part of a company, or those who stand surety for it, have statements too. That of the whole has the
    largest figures, and comes first.
    """
    named = [
        (name, fact)
        for name, fact in ((name_of(key, fact.name, fact.row.section), fact) for fact in facts)
        if name is not None
    ]
    best: dict[int, int] = {}
    largest: defaultdict[tuple[str, ...] | int, Decimal] = defaultdict(Decimal)
    for name, fact in named:
        rank = fact.context.rank
        best[rank] = min(name, best.get(rank, name))
        for place in (fact.context.headings, rank):
            largest[place] = max(_in_ones(fact), largest[place])
    found = [(name, fact) for name, fact in named if name == best[fact.context.rank]]
    found.sort(
        key=lambda each: (
            not _is_of_statement(key, each[1]),
            each[0],
            -largest[each[1].context.headings],
            -largest[each[1].context.rank],
        )
    )
    return [fact for _, fact in found]


def _parts_of(key: str, facts: Sequence[TableFigure]) -> dict[str, list[TableFigure]]:
    """Return the figures of each part of a line, if it has several below its name: of “inventories.1”."""
    parts: defaultdict[Name, list[TableFigure]] = defaultdict(list)
    for fact in facts:
        if is_part_of(key, fact.name) and name_of(key, fact.row.section, "") is not None:
            parts[fact.measure].append(fact)
    numbered = {f"{key}.{at}": figures for at, figures in enumerate(parts.values(), start=1)}
    return numbered if len(numbered) > 1 else {}


def _with_sums(way: str, parts: Mapping[str, Iterable[str]]) -> str:
    """Return a formula with sums of parts for lines: “({inventories.1@2022} + {inventories.2@2022})”."""

    def added(line: re.Match[str]) -> str:
        of_one = [f"{{{part}@{line[2]}}}" for part in parts.get(line[1], ())]
        return f"({' + '.join(of_one)})" if of_one else line[0]

    return re.sub(r"{(\w+)@([^{}]*)}", added, way)


def _is_of_statement(key: str, fact: TableFigure) -> bool:
    kind = LINES[key.partition(".")[0]].kind
    return is_statement(kind, fact.context.headings, fact.context.text)


def _in_ones(fact: TableFigure) -> Decimal:
    unit = fact.row.unit.casefold()
    return abs(fact.figure.value) * next((ones for word, ones in _ONES.items() if word in unit), 1)


def _with_figures(
    measure: Measure, way: str, by_line: Mapping[str, Sequence[TableFigure]], words: frozenset[str]
) -> WorkedOut | None:
    """Return a formula over lines of certain periods with their figures; None if one of them is not sure."""
    wanted = {f"{key}@{period}": (key, period) for key, period in re.findall(r"{([\w.]+)@([^{}]*)}", way)}
    dated = {
        each: [fact for fact in by_line[key] if is_of(period, fact.years)]
        for each, (key, period) in wanted.items()
    }
    of_any = {each: sure_figure(facts, words) for each, facts in dated.items()}
    operands = _of_one_statement(dated, words) or _known(of_any)
    if operands is None:
        return None
    units = {fact.row.scale for fact in operands.values() if fact.row.scale}
    is_partial = any(is_of_months(fact.cell.column, 3, 6, 9) for fact in operands.values())
    return None if len(units) > 1 or (measure.is_of_a_year and is_partial) else WorkedOut(way, operands)


def _of_one_statement(dated: Mapping[str, Sequence[TableFigure]], words: frozenset[str]) -> Operands | None:
    """Return the figures of the first statement that has all lines: two may be of two companies.

    What stands below the same headings is one statement, on one page or two.
    """
    first, *_ = dated.values()
    for place in dict.fromkeys(fact.context.headings for fact in first):
        beside = {
            key: [fact for fact in facts if fact.context.headings == place] for key, facts in dated.items()
        }
        found = _known({key: sure_figure(beside[key], words) for key in beside})
        if found is not None:
            return found
    return None


def _known(found: Mapping[str, TableFigure | None]) -> Operands | None:
    """Return the figures, None if one of them is not known."""
    known = {key: fact for key, fact in found.items() if fact is not None}
    return known if len(known) == len(found) else None


# --- Telling -----------------------------------------------------------------------------------------------


def _formulas_and_rows(
    measure: Measure, found: Sequence[WorkedOut], question: str, places: int | None = None
) -> list[str]:
    """Return each formula with its result, then the rows; nothing if one can't be computed.

    Before them stands a yes or a no if the question wants one and each year tells it of the one before.
    Whether a mere line of a statement improves by rising is not known.
    """
    known = [value for value in (_value(measure, each) for each in found) if value is not None]
    if len(known) < len(found):
        return []
    formulas = [_formula(measure, *each, places) for each in zip(found, known, strict=True)]
    rows = rows_behind([fact for each in found for fact in each.operands.values()])
    first, *others = [*([] if measure.is_line else formulas), *rows]
    is_known = not ((measure.is_line or measure.is_better_low) and _IMPROVES.search(question))
    pairs = pairwise(known[::-1] if compares_earlier(question) else known)
    answers = {answer_by_change(question, *each) for each in pairs} if is_known else set()
    answer = answers.pop() if len(answers) == 1 else None
    return [f"- {with_answer(question, answer, first.removeprefix('- '))}", *others]


def _value(measure: Measure, found: WorkedOut) -> Decimal | None:
    """Return what a formula amounts to; None if it can't be computed."""
    ((key, first), *_) = found.operands.items()
    if measure.is_line:
        return abs(first.figure.value) if _is_unsigned(key) else first.figure.value
    try:
        return Expression(_written_out(found), first.context.language).value()
    except (NotAFormula, DecimalException):
        return None


def _written_out(found: WorkedOut) -> str:
    return _filled(found.way, {key: _written(key, fact) for key, fact in found.operands.items()})


def _filled(way: str, values: Mapping[str, str]) -> str:
    """Return a formula with values in place of its lines."""
    return re.sub(r"{([^{}]+)}", lambda match: values[match[1]], way)


def _formula(measure: Measure, found: WorkedOut, exact: Decimal, places: int | None) -> str:
    text, facts = _written_out(found), list(found.operands.values())
    periods = list(dict.fromkeys(fact.period for fact in facts))
    # Of one period it is said once, behind the names; of several, with each.
    names = {
        key: fact.name if len(periods) < 2 else f"{fact.name} {fact.period}"
        for key, fact in found.operands.items()
    }
    label = escape_markdown(", ".join([_filled(found.way, names), *periods[: len(periods) < 2]]))
    markers = "".join(f"<source_{rank}>" for rank in dict.fromkeys(fact.context.rank for fact in facts))
    return f"- **{label}: {text} = {_result(measure, exact, facts, places)}** {markers}\n"


def _written(key: str, fact: TableFigure) -> str:
    return fact.figure.text if _is_unsigned(key) else operand_of(fact).written


def _is_unsigned(key: str) -> bool:
    return re.split(r"[.@]", key)[0] in UNSIGNED


def _result(measure: Measure, exact: Decimal, facts: Sequence[TableFigure], places: int | None) -> str:
    language = facts[0].context.language
    if measure.is_percent:
        return f"{write_figure(exact * 100, PLACES_OF_SHARE if places is None else places, language)} %"
    if measure.is_amount:
        unit = next((f" ({fact.row.unit})" for fact in facts if fact.row.unit), "")
        of_facts = max(places_of(fact.figure.value) for fact in facts)
        # A mean is told to one place more, if it has one.
        own = of_facts + (round(exact, of_facts) != exact) if places is None else places
        return write_figure(exact, own, language) + unit
    return write_figure(exact, PLACES_OF_RATIO if places is None else places, language)
