"""The list below a heading that a question names: what is needed, what belongs to it, how it is done.

Installation                           “How do I install the filter?”
Shut off the cold water supply.        ─▶  each line below the heading
Unscrew the aerator of the tap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.contexts import Context
from search.generation.extractive.fields.asked import ABOUT_NOTHING, Words, in_common, terms_in
from search.generation.extractive.wording import escape_markdown, fold
from search.generation.extractive.yes_no import wants_yes_or_no

FEWEST_LINES, MOST_LINES = 2, 12
MOST_WORDS_OF_LINE = 30
"""A section with longer lines is prose, of which one sentence answers."""
_WANTS_LIST = re.compile(
    r"\A\W*(?:(?:what|which) |how (?:do|can|should|must|to)\b|(?:please )?list\b|was |welche|wie (?!viel"
    r"|hoch|lang"
    r"|alt|groß|oft|weit|schwer|teuer)|quel|comment |qu['’]|cuál|qué |cómo )",
    re.IGNORECASE,
)


def answer_by_section(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the lines below the heading that says what a question asks for, as a list in Markdown."""
    if wants_yes_or_no(question) or not _WANTS_LIST.search(question):
        return []
    for context in contexts:
        lines = _lines_below(context)
        if FEWEST_LINES <= len(lines) <= MOST_LINES and _is_named(question, context):
            return [f"- {escape_markdown(line)} <source_{context.rank}>\n" for line in lines]
    return []


def _lines_below(context: Context) -> list[str]:
    """Return the lines below the last heading of a context, none if one of them is prose."""
    lines = [fold(line) for line in context.text.splitlines() if line.strip()]
    heading = fold(context.headings[-1]) if context.headings else ""
    if heading not in lines or context.modality != "text":
        return []
    below = lines[lines.index(heading) + 1 :]
    return below if all(len(line.split()) <= MOST_WORDS_OF_LINE for line in below) else []


def _is_named(question: str, context: Context) -> bool:
    """Tell whether a question has all words of the last heading, and else only what those above it say."""
    heading, said = terms_in(context.headings[-1], context), terms_in(question, context)
    common = in_common(heading, said)
    above: Words = terms_in(" ".join([context.document_name, *context.headings[:-1]]), context)
    matched = in_common(said, heading)
    return bool(heading) and common == heading and said - matched - ABOUT_NOTHING <= above
