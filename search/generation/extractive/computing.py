"""Computes what a question asks for from figures of tables and sentences, as a formula with cited operands.

    “By what percentage did net revenue grow from 2022 to 2023?”
    ─▶ Net revenue, 2022 → 2023: (3,200 − 2,900) ÷ 2,900 = 10.3 % <source_1>

Refuses rather than guesses: the question must name the rows, lines of statements by any of their names
(`lines.py`). Each year must have one column. Whatever else the question says must be a heading, a column or
the document's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.text.analysis import terms
from core.text.figures import figure_of
from core.text.months import months
from core.text.tables import header_of, table_start
from search.contexts import Context
from search.generation.extractive.business_segments import figures_of_segment
from search.generation.extractive.calculations import (
    Calculation,
    CalculationKind,
    asks_for_difference,
    calculation_of,
)
from search.generation.extractive.figures import (
    Name,
    TableFigure,
    by_table,
    only_sure,
    rows_behind,
    table_figures,
    without_changes,
)
from search.generation.extractive.formulas import Operand, formula
from search.generation.extractive.line_names import LINES, StatementKind
from search.generation.extractive.lines import (
    NAMES,
    is_statement,
    is_tax_expense,
    is_unsigned,
    lines_named,
    plain_name,
)
from search.generation.extractive.periods import (
    YEAR,
    is_of,
    period_before,
    reading_of,
    words_of,
)
from search.generation.extractive.sentence_figures import sentence_figures
from search.question_language import LANGUAGES, language_of

MOST_OPERANDS = 6
_LEADER = re.compile(r"(?<=[^\W\d_]{4})(?: ?\.){1,200}\Z")
"""What is left of the dots between a name and its figures: “Computer.”; “Inc.” keeps its own."""
_BARE_TOTAL = re.compile(
    r"\W{0,9}(?:totals?|totaal|gesamt|insgesamt|summe|ensemble|suma)\W{0,9}", re.IGNORECASE
)
"""What is a total of its own table alone."""
_SAID_ABOUT_NOTHING = {
    "en": "fiscal year years quarter first second third fourth three month annual"
    " fy one two six nine twelve half week end begin start finish close prior previous ago last same"
    " company report reported total value amount amounts balance expected"
    " number according make made earn earned bring brought come came go went spent spend devoted compared"
    " comparison compare calculate compute relative respect period unit units round rounded decimal place"
    " places unadjusted"
    " percentage points generate contribute account represent derive attributable business segment"
    " division higher lower larger smaller greater more less than those achieve achieved reach"
    " reached post posted"
    " spending spent incur incurred book booked carry carried together taken whole",
    "de": "jahr geschäftsjahr quartal halbjahr monate ersten zweiten dritten vierten ende stand stichtag seit"
    " hoch höhe groß stark betrag betrug betrugen belief lag lagen gab gibt hatte erzielte verzeichnete"
    " zahlte entwickelte entwickelt prozent differenz unterschied vergleich verglichen"
    " gegenüber unternehmen konzern firma",
    "fr": "les combien quels quelle exercice année trimestre semestre mois premier deuxième troisième"
    " quatrième fin depuis entre montant pourcentage différence était étaient valait valaient élevait"
    " élevaient dépensé versé réalisé société entreprise groupe rapport comparé",
    "es": "cuál cuáles cuánto cuánta cuántos cuántas fue fueron ejercicio año trimestre semestre meses primer"
    " segundo tercer cuarto cierre desde entre importe porcentaje diferencia gastó pagó tuvo ascendió"
    " ascendieron registró compañía empresa grupo respecto frente comparación",
}
ABOUT_NOTHING = frozenset(
    term
    # A word is cut to its stem by the rules of the document's language, whichever its own is.
    for language in _SAID_ABOUT_NOTHING
    for term in terms(" ".join([*_SAID_ABOUT_NOTHING.values(), *months(LANGUAGES)]), language)
)
"""Words of a question that no row has to have."""


def computed(question: str, contexts: Sequence[Context], segment: str | None = None) -> list[str]:
    """Return the formula and the rows that it is computed from, as Markdown; nothing if none is sure.

    Of a business segment only its own figures count, and the question is without its name
    (`business_segments.py`).
    """
    asked = calculation_of(question)
    if asked is None:
        return []
    reading = reading_of(question)
    if segment is None:
        facts = [*without_changes(table_figures(contexts, reading)), *sentence_figures(contexts, reading)]
        return _computed(asked, question, facts)
    found = (_computed(asked, question, facts) for facts in figures_of_segment(segment, contexts, reading))
    return next(filter(None, found), [])


def _computed(asked: Calculation, question: str, facts: Sequence[TableFigure]) -> list[str]:
    operands = _operands(asked, question, facts)
    if operands is None or not _is_about(asked, question, operands):
        return []
    return formula_and_rows(asked, [operand_of(fact) for fact in operands], operands)


def formula_and_rows(
    asked: Calculation, operands: Sequence[Operand], facts: Sequence[TableFigure]
) -> list[str]:
    """Return the formula and the rows that it is computed from, as Markdown, if it can be computed."""
    written = formula(asked, operands)
    if written is None:
        return []
    markers = "".join(f"<source_{rank}>" for rank in dict.fromkeys(fact.context.rank for fact in facts))
    return [f"- **{written}** {markers}\n", *rows_behind(facts)]


def names_no_measure(question: str) -> bool:
    """Tell whether a question compares years and says not of what: “By how much did the balance rise?”."""
    asked = calculation_of(question)
    if asked is None or len(asked.years) < 2:
        return False
    return all(
        term in ABOUT_NOTHING or any(map(str.isdigit, term))
        for term in terms(asked.rest, language_of(question))
    )


def operand_of(fact: TableFigure) -> Operand:
    """Return a figure as formulas take it: a cost in parentheses is no negative cost."""
    is_cost = is_unsigned(fact.name) or (is_tax_expense(fact.name) and _is_written_negative(fact))
    figure = replace(fact.figure, value=abs(fact.figure.value)) if is_cost else fact.figure
    return Operand(_LEADER.sub("", fact.name), fact.period, figure, fact.row.unit, fact.context.language)


def _is_written_negative(fact: TableFigure) -> bool:
    """Tell whether all figures of a row are below zero: a tax that is a benefit in each year is unlikely."""
    figures = [figure_of(cell.value, fact.context.language) for cell in fact.row.cells]
    return len(figures) > 1 and all(figure is None or figure.value < 0 for figure in figures)


# --- Operands ----------------------------------------------------------------------------------------------


def _operands(asked: Calculation, question: str, facts: Sequence[TableFigure]) -> list[TableFigure] | None:
    """Return the figures to compute with, in their order; None if any of them is missing or not sure."""
    measures = rows_named(question, facts, asked.cues)
    if not measures or (asked.kind is CalculationKind.GROWTH and len(measures) > 1):
        return None
    # “How much did it spend in 2021 and 2020?” asks for no difference.
    if asked.kind is CalculationKind.DIFFERENCE and len(measures) == 1 and not asks_for_difference(question):
        return None
    if asked.kind is not CalculationKind.RATIO and (
        len(measures) == 1 or len(asked.years) > 1 or asked.is_yearly
    ):
        wanted = [(measures[0], year) for year in _years(asked, measures[0], facts)]
    else:
        if asked.before_whole is not None and not rows_named(asked.before_whole, facts, asked.cues):
            measures = measures[::-1]
        wanted = [(measure, asked.years[-1] if asked.years else "") for measure in measures]
    if not 2 <= len(wanted) <= MOST_OPERANDS or (
        len(wanted) > 2 and asked.kind not in (CalculationKind.SUM, CalculationKind.MEAN)
    ):
        return None
    words = words_of(question)
    kinds = {LINES[key].kind for key, _ in lines_named(question)}
    # Notes call the parts of an amount like lines of statements: what of it is for research, for sales.
    statements_first = sorted(by_table(facts), key=lambda some: not _is_of_statement(some[0].context, kinds))
    for some in [*statements_first, facts]:
        found = [only_sure([fact for fact in some if _is(fact, *each)], words) for each in wanted]
        operands = [fact for fact in found if fact is not None]
        if len(operands) == len(wanted):
            return operands
    return None


def _is_of_statement(context: Context, kinds: Iterable[StatementKind]) -> bool:
    return any(is_statement(kind, context.headings, context.text) for kind in kinds)


def rows_named(question: str, facts: Sequence[TableFigure], cues: str = "") -> list[Name]:
    """Return the rows that a question names, in its order; the longest names first take their words.

    `cues` are words of a question that belong to no row.

    “By what percentage did total revenue grow” does not name the row “Percentage of total revenue”. Lines of
    statements have other names in questions.
    """
    places: dict[int, Name] = {}
    taken: set[int] = set()
    known = {(fact.measure, fact.context.language) for fact in facts if fact.measure}
    if not known:
        return []
    for measure, language in sorted(known, key=lambda each: (-len(each[0]), each[0])):
        of_cues = frozenset(terms(cues, language))
        plain = tuple(term for term in measure if term not in of_cues)
        if plain != measure and (plain, language) in known:
            continue
        said = tuple(terms(question, language))
        for at in range(len(said) - len(measure) + 1):
            span = set(range(at, at + len(measure)))
            if said[at : at + len(measure)] == measure and not span & taken:
                taken |= span
                places[at] = measure
    for key, match in lines_named(question):
        at = min(len(terms(question[: match.start()], language)) for _, language in known)
        if at not in taken and (line := line_of(key, facts)) is not None:
            places[at] = line
    behind = _behind_words(question, {language for _, language in known})
    sections = {at for at in behind & places.keys() if at - 1 in taken and _is_line(places[at], facts)}
    return list(dict.fromkeys(places[at] for at in sorted(places) if at not in sections))


def _behind_words(question: str, languages: Iterable[str | None]) -> set[int]:
    """Return which terms of a question, from 0, stand right behind the term before, with no word between.

    “Subscription revenue” is the row “Subscription” below “Revenue”; “sales that costs were” names two rows.
    """
    behind: set[int] = set()
    for language in languages:
        words = [word for word, said in enumerate(question.split()) for _ in terms(said, language)]
        behind |= {at for at in range(1, len(words)) if words[at] == words[at - 1] + 1}
    return behind


def _is_line(measure: Name, facts: Sequence[TableFigure]) -> bool:
    """Tell whether rows of this name are a line of a statement."""
    names = {plain_name(fact.name) for fact in facts if fact.measure == measure}
    return any(name.fullmatch(called) for of_line in NAMES.values() for name in of_line for called in names)


def line_of(key: str, facts: Sequence[TableFigure]) -> Name | None:
    """Return what a line of a statement is called here: “Total revenue” is the revenue of a question.

    What the statement of the whole company calls so counts more than what other tables do.
    """
    called = [(name, fact) for name in NAMES[key] for fact in facts if name.fullmatch(plain_name(fact.name))]
    of_whole = [
        (name, fact)
        for name, fact in called
        if is_statement(LINES[key].kind, fact.context.headings, fact.context.text)
    ]
    return next((fact.measure for _, fact in of_whole or called), None)


def _years(asked: Calculation, measure: Name, facts: Sequence[TableFigure]) -> list[str]:
    """Return the years to compare, ascending: those named, with the one before if only one is."""
    years = list(asked.years)
    known = sorted({max(fact.years) for fact in facts if fact.measure == measure and len(fact.years) == 1})
    if len(years) == 1 and asked.kind in (CalculationKind.GROWTH, CalculationKind.DIFFERENCE):
        return [period_before(years[0]), *years]
    if not years and asked.is_yearly:
        return known[-2:]
    if (
        len(years) == 2
        and all(map(YEAR.fullmatch, years))
        and asked.kind in (CalculationKind.SUM, CalculationKind.MEAN)
    ):
        between = [str(year) for year in range(int(years[0]), int(years[1]) + 1)]
        return between if set(between) <= set(known) else years
    return years


def _is(fact: TableFigure, measure: Name, year: str) -> bool:
    return fact.measure == measure and (is_of(year, fact.years) if year else fact.cell is fact.row.cells[0])


# --- Whether it is what was asked --------------------------------------------------------------------------


def _is_about(asked: Calculation, question: str, operands: Sequence[TableFigure]) -> bool:
    """Tell whether all the question says is said of the operands: of another company they say nothing."""
    has_total = any(_BARE_TOTAL.fullmatch(fact.name) for fact in operands)
    if len({fact.row.scale for fact in operands}) > 1 or (has_total and len(by_table(operands)) > 1):
        return False
    return all(_says(fact, asked, language_of(question), operands) for fact in operands)


def _says(fact: TableFigure, asked: Calculation, language: str, operands: Sequence[TableFigure]) -> bool:
    context = fact.context
    about = [
        context.document_name,
        *context.headings,
        header_of(context.text),
        context.opening,
        context.introduction,
        context.text[: table_start(context.text)],
        fact.cell.column,
        fact.row.sentence,
        fact.row.section,
    ]
    known = {*terms(" ".join(about), context.language), *ABOUT_NOTHING}
    known.update(term for other in operands for term in other.measure)
    for key, match in lines_named(asked.rest):
        if any(name.fullmatch(plain_name(other.name)) for name in NAMES[key] for other in operands):
            known.update(terms(match[0], context.language))
    said = (word for word in re.findall(r"\w+", asked.rest) if terms(word, language))
    left = [term for word in said for term in terms(word, context.language) if term not in known]
    return all(any(map(str.isdigit, term)) for term in left)
