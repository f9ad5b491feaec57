"""The list below a heading that a question names: what is needed, what belongs to it, how it is done.

Installation                           “How do I install the filter?”
Shut off the cold water supply.        ─▶  each line below the heading
Unscrew the aerator of the tap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from core.text.tables import is_table
from search.contexts import Context
from search.generation.extractive.fields.asked import (
    SAID_ANYWAY,
    Words,
    in_common,
    is_said,
    terms_in,
    words_asked,
)
from search.generation.extractive.statements import without_mark
from search.generation.extractive.wording import each_cited, fold
from search.generation.extractive.yes_no import wants_yes_or_no

FEWEST_LINES, MOST_LINES = 2, 12
CHARS_OF_TITLE = 80
"""A plain text says its title in its first line."""
MOST_WORDS_OF_LINE = 30
"""A section with longer lines is prose, of which one sentence answers."""
_WANTS_LIST = re.compile(
    r"\A\W*(?:(?:what|which) |how (?:do|can|should|must|to)\b|(?:please )?list\b|was |welche|wie (?!viel"
    r"|hoch|lang|alt|groß|oft|weit|schwer|teuer)|quel|comment |qu['’]|cuál|qué |cómo )",
    re.IGNORECASE,
)


def answer_by_section(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the lines below the heading that says what a question asks for, as a list in Markdown."""
    if wants_yes_or_no(question) or not _WANTS_LIST.search(question):
        return []
    for context in contexts:
        for name, lines in _lists(context):
            if FEWEST_LINES <= len(lines) <= MOST_LINES and _is_named(question, name, context):
                return [f"- {each_cited(line, context)}\n" for line in lines]
    return []


def _lists(context: Context) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below the last heading, if none is prose, and the items below other short lines."""
    lines = [fold(line) for line in context.text.splitlines() if line.strip()]
    heading = fold(context.headings[-1]) if context.headings else ""
    if is_table(context.text):
        return
    for at, line in enumerate(lines):
        below = lines[at + 1 :]
        if line == heading and all(len(each.split()) <= MOST_WORDS_OF_LINE for each in below):
            yield line, [*map(without_mark, below)]
        elif items := [*takewhile(lambda each: without_mark(each) != each, below)]:
            yield line, [*map(without_mark, items)]


def _is_named(question: str, name: str, context: Context) -> bool:
    """Tell whether a question has all words of a list's name, and else only what headings above it say."""
    heading, said = terms_in(name, context), words_asked(question, context)
    common = in_common(heading, said)
    above: Words = terms_in(
        " ".join([context.document_name, *context.headings, context.text[:CHARS_OF_TITLE]]), context
    )
    matched = in_common(said, heading)
    return bool(heading) and common == heading and is_said(said - matched - SAID_ANYWAY, above)
