"""An answer without a language model: the statements that best answer the question, each with its source.

    contexts ─▶ statements (sentences, rows of tables) ─▶ weighed ─▶ chosen ─▶ rendered in paragraphs
             ─▶ figures of tables and sentences, if the question wants something computed ─▶ a formula
             ─▶ rows of a whole table, if the question wants the most or the least ─▶ the row that has it

It can't be wrong about what a document says, only about which statement matters; below a floor of relevance
it says that there is no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from core.llm.payment import Payment
from search.citations.markers import MARKER
from search.contexts import Context
from search.generation.base import GenerationRequest, GenerationUsage, Generator, TextStream
from search.generation.extractive.asked_formulas import formula_asked
from search.generation.extractive.authors import authors
from search.generation.extractive.beyond_quoting import names_none, wants_analysis
from search.generation.extractive.business_segments import business_segment_of
from search.generation.extractive.calculations import lacks_calculation
from search.generation.extractive.cash_flows import most_cash
from search.generation.extractive.cell_answers import answer_by_cell_of_line, answer_by_cells
from search.generation.extractive.choosing import SURE_ODDS, choose, completed, paragraphs
from search.generation.extractive.computing import computed, names_no_measure
from search.generation.extractive.counted import counts_other_things, lacks_counted
from search.generation.extractive.courses import course
from search.generation.extractive.doubts import belief
from search.generation.extractive.expected import asks_how_many, lacks_count, lacks_figure, lacks_name
from search.generation.extractive.fields import answer_by_field
from search.generation.extractive.fields.rows import answer_by_row, lacks_column
from search.generation.extractive.fields.sections import answer_by_section
from search.generation.extractive.issuers import issuer
from search.generation.extractive.lines import lines_named
from search.generation.extractive.listed import answer_by_thing, answer_by_things
from search.generation.extractive.listed.asked import is_answered_by_row
from search.generation.extractive.measures import measure_of, wants_line, wants_mere_line
from search.generation.extractive.measuring import as_asked, measured
from search.generation.extractive.outstanding import outstanding
from search.generation.extractive.periods import is_of_other_days, parts_in, quarters_in, years_in
from search.generation.extractive.places import lacks_country
from search.generation.extractive.question_parts import parts_of_question
from search.generation.extractive.reading import Languages, ModelReading, QuestionReading, languages_of
from search.generation.extractive.reasons import asks_why
from search.generation.extractive.required import lacks_percentage, required_by, required_of_row_by
from search.generation.extractive.shares import can_answer, wants_share
from search.generation.extractive.side_by_side import one_by_one
from search.generation.extractive.statements import Statement, without_mark
from search.generation.extractive.subjects import of_owner
from search.generation.extractive.weighed import WeighedStatement
from search.generation.extractive.weighing import weigh
from search.generation.extractive.wording import (
    cited,
    escape_markdown,
    fold,
    nothing_found,
    reflection,
)
from search.generation.extractive.yes_no import answer_by_statement, with_answer
from search.named_documents import as_columns_say
from search.question_language import in_language_of
from search.text_processes import text_processes

__all__ = ["ExtractiveGenerator", "escape_markdown", "extract", "figured_out", "fold", "nothing_found"]

LIKELY, LIKELY_ODDS = 0.55, 2.0
"""The similarity of a row that likely answers, where no model has read whether it does, and the log odds."""


NAMES_NOT_WHAT_IS_COUNTED = 5.0
"""The log odds from which on a statement may call what is counted by another name than the question."""


class ExtractiveGenerator(Generator):
    """Quotes the best statements."""

    async def answer(self, asked: GenerationRequest, payment: Payment) -> TextStream:
        """Yield a list item for each paragraph, the best one first; one alone is no list.

        Raise `Timeout` where the texts take too long to be read: that is done in a process with a deadline.
        """
        for piece in await asyncio.to_thread(_extracted, asked):
            yield piece
        yield GenerationUsage("extractive")


def extract(asked: GenerationRequest, reading: QuestionReading) -> list[str]:
    """Return the pieces of the answer."""
    asked = replace(asked, contexts=in_language_of(asked.question, asked.contexts))
    found = [] if asked.unseen_names else next(filter(None, _answers(asked, reading)), [])
    said = found or [nothing_found(asked)]
    if not asked.reflection:
        return said
    cited = frozenset(MARKER.findall("".join(found)))
    return [reflection(asked.question, asked.contexts, len(cited)), *said]


def _answers(asked: GenerationRequest, reading: QuestionReading) -> Iterator[list[str]]:
    """Yield what each way to answer finds; the first that finds something counts.

    Figures are no reason for anything: who asks why is told a sentence, if there is one.
    """
    question = as_columns_say(parts_of_question(asked.question).subject)
    ours = of_owner(question, asked.contexts)
    wants_reason = asks_why(asked.question)
    if wants_reason:
        yield _quoted(question, ours, reading)
    yield course(asked.question, asked.contexts)
    yield most_cash(question, asked.contexts)
    names_line = bool(lines_named(question)) or measure_of(question) is not None
    yield [] if names_line else answer_by_things(question, ours)
    yield _of_each(asked.question, asked.contexts)
    yield _of_line(asked.question, asked.contexts)
    yield outstanding(question, asked.contexts)
    yield answer_by_things(question, ours) if names_line else []
    yield issuer(question, asked.contexts)
    yield answer_by_cells(question, ours)
    yield answer_by_thing(question, ours)
    by_row = answer_by_row(question, ours)
    yield by_row if all(map(is_answered_by_row(question), by_row)) else []
    yield answer_by_field(question, ours)
    yield authors(question, asked.contexts)
    yield answer_by_section(question, ours)
    if not wants_reason:
        yield _quoted(question, ours, reading)


def _of_line(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the figure of a line, or what is worked out from lines."""
    subject = as_columns_say(parts_of_question(question).subject)
    return answer_by_cell_of_line(subject, of_owner(subject, contexts)) or worked_out(question, contexts)


def _of_each(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the figures of each of the names that stand side by side, if they are others for each."""
    found = [_of_line(each, contexts) for each in one_by_one(question)]
    is_of_each = all(found) and len({tuple(lines) for lines in found}) == len(found)
    return [f"- {line.removeprefix('- ')}" for lines in found for line in lines] if is_of_each else []


def worked_out(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return what is worked out from figures: by the formula that the question gives, or by a known one."""
    parts, formula = parts_of_question(question), formula_asked(question)
    found = as_asked(formula, question, contexts) if formula else []
    # What a question defines is worked out by no other definition.
    return (
        found
        if found or (formula and parts.definitions)
        else figured_out(as_columns_say(parts.question), contexts)
    )


def figured_out(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return what is worked out from figures: of two lines, or of the change of one, first a formula."""
    headings = (context.headings[-1] for context in contexts if context.headings)
    segment, asked = business_segment_of(question, headings)
    if wants_mere_line(asked):
        found = computed(asked, contexts, segment)
        return found or ([] if wants_share(asked) else measured(asked, contexts, segment))
    return measured(asked, contexts, segment) or computed(asked, contexts, segment)


def _quoted(question: str, contexts: Sequence[Context], reading: QuestionReading) -> list[str]:
    """Return the best statements, those that follow each other as one paragraph."""
    if names_no_measure(question):
        return []
    evidence = weigh(question, contexts, reading)
    best = choose(evidence, _may_answer(question))
    if best and not (_can_answer(question, best[0]) and _is_believed(question, best[0], evidence, reading)):
        return []
    rendered = [*map(_render_paragraph, paragraphs(completed(question, best, evidence)))]
    if best:
        answer = answer_by_statement(question, best[0].statement)
        rendered[0] = with_answer(question, answer, rendered[0])
    return [f"{'- ' if len(rendered) > 1 else ''}{paragraph}\n" for paragraph in rendered]


def _may_answer(question: str) -> Callable[[WeighedStatement], bool]:
    """Return the test whether a sentence or row has what any answer to a question must have."""
    has_it, row_has_it = required_by(question), required_of_row_by(question)
    asked_parts = parts_in(question)
    may_be_row, is_of_line = is_answered_by_row(question), wants_line(question)

    def may_answer(each: WeighedStatement) -> bool:
        said = each.statement.meaning
        if is_of_line and lacks_figure(question, said):
            return False
        if each.statement.is_row and _is_bare_across(question, each.statement):
            return False
        if each.statement.is_row and is_of_other_days(question, said):
            return False
        of_it = quarters_in(said) if each.statement.is_row else parts_in(said)
        if asked_parts and of_it and not asked_parts & of_it:
            return False
        return row_has_it(said) and may_be_row(said) if each.statement.is_row else has_it(said)

    return may_answer


def _is_bare_across(question: str, row: Statement) -> bool:
    """Tell whether a row in another language than the question's has figures, and no names of their columns.

    “Int’l. · 1,106 · 675” resembles a question about anything in the world.
    """
    is_across = languages_of(question, row.context.language) is Languages.TWO
    return is_across and ":" not in row.text


def _can_answer(question: str, best: WeighedStatement) -> bool:
    """Tell whether a statement may hold what is asked for: a share, a count, a column of a row, a year.

    A model may be sure that it does.
    """
    statement, is_sure = best.statement, best.odds is not None and best.odds >= SURE_ODDS
    text, context = statement.meaning, statement.context
    if not can_answer(question)(text) or lacks_count(question, text) or names_none(question, text):
        return False
    if lacks_calculation(question, text) or lacks_percentage(question, text):
        return False
    if statement.is_sentence and (counts_other_things(question, text) or lacks_name(question, text)):
        return False
    if (asks_how_many(question) or wants_line(question)) and lacks_country(question, context):
        return False
    if wants_analysis(question) and not is_sure:
        return False
    if (statement.is_row or not is_sure) and _is_of_other_years(question, context):
        return False
    if statement.is_row:
        start = context.sentences[statement.at].start
        is_likely = best.cosine >= LIKELY if best.odds is None else best.odds >= LIKELY_ODDS
        return is_sure or not lacks_column(question, context, start, is_likely=is_likely)
    return True


def _is_believed(
    question: str, best: WeighedStatement, evidence: Sequence[WeighedStatement], reading: QuestionReading
) -> bool:
    """Tell whether nothing in the question speaks against a statement; of what is certain nothing does."""
    if best.odds is None or best.is_certain:
        return True
    if best.odds < NAMES_NOT_WHAT_IS_COUNTED and lacks_counted(question, best.statement):
        return False
    return belief(question, best, evidence, reading) > 0


def _is_of_other_years(question: str, context: Context) -> bool:
    """Tell whether a passage speaks of years, and of none that a question names: “the budget for 2027”."""
    asked = years_in(question)
    said = years_in(" ".join([context.document_name, *context.headings, context.introduction, context.text]))
    return bool(asked and said) and not asked & said


def _extracted(asked: GenerationRequest) -> list[str]:
    contexts = [context.portable(with_places=False) for context in asked.contexts]
    sent = replace(asked, contexts=contexts, crops=())
    pieces: list[str] = text_processes.run("extract", sent, embed=ModelReading(asked.question).serve)
    return pieces


def _render_paragraph(paragraph: Sequence[WeighedStatement]) -> str:
    """Return statements one after the other, and the items of a list below what announces it."""
    return " ".join(_rendered(each.statement) for each in paragraph)


def _rendered(statement: Statement) -> str:
    lines = [(statement.text,), *((without_mark(first), *more) for first, *more in statement.items)]
    return "\n  - ".join(" ".join(cited(text, statement.context) for text in line) for line in lines)
