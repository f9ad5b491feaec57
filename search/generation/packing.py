"""How much of the contexts a model is shown: the best ranks first, as far as its budget goes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from search.contexts import Context

_WORD = re.compile(r"\S{1,60}")
"""An unbroken run is cut as well."""

Size = Callable[[Context, str], int]
"""How many tokens it takes to show a context with this much of its text."""


@dataclass(frozen=True, slots=True)
class ContextExcerpt:
    """A context and what of its text is shown: all of it, or its beginning up to the end of a sentence."""

    context: Context
    text: str


def pack(contexts: Sequence[Context], budget: int, size: Size) -> list[ContextExcerpt]:
    """Return what fits into `budget` tokens by rank; the first that does not fit whole is cut and the last.

    Where not even a sentence of the best context fits, it is cut between words: something has to be shown.
    """
    packed: list[ContextExcerpt] = []
    for context in sorted(contexts, key=lambda context: context.rank):
        text = context.text
        if (needed := size(context, text)) > budget:
            begun = _cut(context, [sentence.end for sentence in context.sentences], budget, size)
            if not begun and not packed:
                begun = _cut(context, [word.end() for word in _WORD.finditer(text)], budget, size)
            return [*packed, ContextExcerpt(context, begun)] if begun else packed
        packed.append(ContextExcerpt(context, text))
        budget -= needed
    return packed


def _cut(context: Context, ends: Sequence[int], budget: int, size: Size) -> str:
    """Return the text up to the last of `ends` that fits; empty if none does."""
    text = context.text
    fitting = bisect_right(ends, budget, key=lambda end: size(context, text[:end]))
    return text[: ends[fitting - 1]] if fitting else ""
