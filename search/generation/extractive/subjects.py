"""Of whom and of what a question asks: of another company, or of another line, nothing is to be told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from core.text.analysis import terms
from core.text.tables import header_of
from search.contexts import Context
from search.generation.extractive.calculations import asks_for_change, calculation_of
from search.generation.extractive.computing import ABOUT_NOTHING
from search.generation.extractive.measures import measure_of
from search.question_language import language_of

_FIRST_SENTENCE = re.compile(
    r".*?(?:\Z|\?|,? (?:and|und|et|y) (?:what|how|why|who|where|was|wie|warum|quel|qué)\b)"
)
_WORD_BEFORE = re.compile(r"(?<![\w'’])([^\W\d_]++)\s++\Z")
"""The last word, but no owner: “Best Buy’s”."""
_OWNER = re.compile(r"(?<!\A)(?<![\w'’])([A-ZÀ-ÖØ-Þ][\w&.-]{1,40}(?:\s[A-ZÀ-ÖØ-Þ&][\w&.-]{0,40}){0,3})['’]")
"""The proper name before an apostrophe."""
_NARROWING = frozenset(("comparable", "organic", "adjusted", "deferred", "unearned"))
"""What makes another figure of a line, whatever the table is called."""
_TALK = frozenset(
    terms(
        "improve improving improved profile trend company compare between end ended three month months time"
        " date calculate consolidated reveal state report record disclose detail show give present note"
        " mention spend allocate invest high low level ratio margin measure times days percent percentage"
        " pay paid owe owes owed suppliers amount higher lower larger smaller greater begin start"
        " finish close much many large big",
        "en",
    )
)


def is_about(question: str, contexts: Sequence[Context], also: str = "") -> bool:
    """Tell whether all that a question says, without the measure, is said of the document or in `also`.

    Of another company nothing is told.
    """
    first = _FIRST_SENTENCE.match(question)
    asked, language = language_of(question), contexts[0].language
    about = [contexts[0].document_name, contexts[0].opening, also]
    for context in contexts:
        about += [*context.headings, header_of(context.text)]
    known = {*terms(" ".join(about), language), *ABOUT_NOTHING, *_TALK}
    said = [word for word in re.findall(r"\w+", first[0] if first else question) if terms(word, asked)]
    joined = {*terms(" ".join(map("".join, pairwise(said))), language)} & known
    return all(
        known.issuperset(terms(word, language))
        or any(map(str.isdigit, word))
        or asks_for_change(word)
        or any(term in whole for term in terms(word, language) for whole in joined)
        for word in said
    )


def is_narrowed(question: str, cue: re.Match[str], context: Context) -> bool:
    """Tell whether the word before a line makes another of it: “deferred revenue” is no revenue."""
    before = _WORD_BEFORE.search(question[: cue.start()])
    if before is None or not terms(before[1], language_of(question)):
        return False
    if before[1].casefold() in _NARROWING:
        return True
    name = "".join(terms(context.document_name, context.language))
    known = {*ABOUT_NOTHING, *_TALK}
    return not all(term in known or term in name for term in terms(before[1], context.language))


def of_owner(question: str, contexts: Sequence[Context]) -> list[Context]:
    """Return the contexts that may be about the one whose figure is asked for: all, if no owner is named.

    “Microsoft's revenue” is not in another company's report, unless the passage itself speaks of Microsoft.
    """
    owner = _OWNER.search(question)
    if owner is None or not (measure_of(question) or calculation_of(question)):
        return list(contexts)
    words, asked = owner[1].casefold().split(), language_of(question)
    # In another language the owner may have another name.
    return [
        context for context in contexts if context.language not in (None, asked) or _speaks_of(words, context)
    ]


def _speaks_of(words: Sequence[str], context: Context) -> bool:
    said = " ".join([context.document_name, context.opening, *context.headings, context.text]).casefold()
    return all(word in said for word in words) or "".join(words) in said
