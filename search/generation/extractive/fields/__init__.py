"""What stands behind a label: in the head of a message, a form, a receipt, a data sheet.

    “Who sent the mail?”         From: Ada <ada@example.org>
    “What is the meeting ID?”    Meeting ID
                                 869 1664 1575
    “In which state is it incorporated?”
                                 | Nevada                   |
                                 | (State of incorporation) |

A label is what the question says, or what its words are known to mean (`cues.py`). All else that the question
says must be said around it: else it asks for something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.text.analysis import UNSPACED
from search.contexts import Context
from search.generation.extractive.calculations import calculation_of
from search.generation.extractive.expected import asks_for_measure, asks_how_many, is_of_kind, quantities_in
from search.generation.extractive.fields.asked import (
    SAID_ANYWAY,
    Words,
    in_common,
    is_said,
    meant_by,
    terms_in,
    words_asked,
)
from search.generation.extractive.fields.cues import FieldCue, cues_in
from search.generation.extractive.fields.reading import Field, fields_of
from search.generation.extractive.outstanding.superlatives import superlatives_of
from search.generation.extractive.reasons import asks_why
from search.generation.extractive.wording import each_cited
from search.generation.extractive.yes_no import wants_yes_or_no
from search.question_language import is_in_another_language

__all__ = ["answer_by_field"]


@dataclass(frozen=True, slots=True)
class NamedField:
    """A field that a question names, and how many words of its label the question does not say."""

    field: Field
    said: int
    unsaid: int

    @property
    def distance(self) -> tuple[int, int]:
        """How far it is from what is asked: the nearest one is meant."""
        return self.unsaid, -self.said


def answer_by_field(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the one value that a question asks for by its label, as Markdown; nothing if two differ."""
    if wants_yes_or_no(question) or asks_why(question) or superlatives_of(question):
        return []
    fields = [field for context in contexts for field in fields_of(context)]
    found = _by_label(question, fields) or _by_cue(question, fields)
    if found is None:
        return []
    return [f"{each_cited(found.quotable, found.context)}\n"]


def _by_label(question: str, fields: Sequence[Field]) -> Field | None:
    named = [each for field in fields for each in _named(question, field)]
    nearest = min((each.distance for each in named), default=None)
    return _only(each.field for each in named if each.distance == nearest)


def _named(question: str, field: Field) -> Iterator[NamedField]:
    """Yield a field if a question says its label, and nothing but what is said around it."""
    if UNSPACED.search(field.label):
        if field.label in question:
            yield NamedField(field, len(field.label), 0)
        return
    label, said = _terms(field.label, field), words_asked(question, field.context)
    # “How heavy” asks for what labels call weight, or mass.
    meant = _terms(" ".join(quantities_in(question)), field)
    common = in_common(label, said | meant)
    unsaid = len(label - common - meant_by(question, field.context))
    if not common or unsaid > field.may_be_unsaid(len(label)) or not is_of_kind(question, field.value):
        return
    if asks_for_measure(question) and not meant & label:
        return
    if field.is_count and not asks_how_many(question):
        return
    # “How much did the price change?” wants no price.
    asked = calculation_of(question)
    cues = _terms(asked.cues, field) if asked else frozenset()
    said_of_it = in_common(said, label)
    if cues - SAID_ANYWAY <= said_of_it and is_said(said - said_of_it - SAID_ANYWAY, _around(field)):
        yield NamedField(field, len(common), unsaid)


def _by_cue(question: str, fields: Sequence[Field]) -> Field | None:
    found = (_of_cue(cue, question, fields) for cue in cues_in(question))
    return next(filter(None, found), None)


def _of_cue(cue: FieldCue, question: str, fields: Sequence[Field]) -> Field | None:
    """Return the only field with the first of a cue's labels that there is."""
    for label in cue.labels:
        called = [
            each
            for each in fields
            if each.label.casefold() == label
            and cue.suits(each.value)
            and _is_about(cue.rest_of(question), each)
        ]
        if called:
            return _only(called)
    return None


def _is_about(rest: str, field: Field) -> bool:
    """Tell whether all that a question says besides is said around a field; in other words it can't be."""
    if is_in_another_language(rest, field.context.language):
        return True
    return is_said(_terms(rest, field) - SAID_ANYWAY, _around(field))


def _only(fields: Iterator[Field] | Sequence[Field]) -> Field | None:
    found = {field.value.casefold(): field for field in fields}
    return next(iter(found.values())) if len(found) == 1 else None


def _around(field: Field) -> Words:
    context = field.context
    return _terms(" ".join([context.document_name, *context.headings, context.text]), field)


def _terms(text: str, field: Field) -> Words:
    return terms_in(text, field.context)
