"""An answer without a language model: the statements that best answer the question, each with its source.

    contexts ─▶ statements (sentences, rows of tables) ─▶ weighed ─▶ chosen ─▶ told, in paragraphs

It can't be wrong about what a document says, only about which statement matters; below a floor of relevance
it says that there is no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from search.answer.base import Answerer, Asked, Spent
from search.answer.extractive.choosing import choose, paragraphs
from search.answer.extractive.weighing import Evidence, weigh
from search.answer.extractive.wording import (
    escape_markdown,
    fold,
    nothing_found,
    reflection,
)

__all__ = ["ExtractiveAnswerer", "escape_markdown", "fold", "nothing_found"]


class ExtractiveAnswerer(Answerer):
    """Quotes the best statements."""

    async def answer(self, asked: Asked) -> AsyncGenerator[str | Spent, None]:
        """Yield a list item for each paragraph, the best one first; one alone is no list."""
        chosen = choose(await asyncio.to_thread(weigh, asked.question, asked.contexts))
        if asked.reflection:
            cited = {each.statement.context.rank for each in chosen}
            yield reflection(asked.question, asked.contexts, len(cited))
        if not chosen:
            yield nothing_found(asked)
        told = [*map(_told, paragraphs(chosen))]
        for paragraph in told:
            yield f"{'- ' if len(told) > 1 else ''}{paragraph}\n"
        yield Spent("extractive")


def _told(paragraph: Sequence[Evidence]) -> str:
    return " ".join(
        f"{escape_markdown(each.statement.text)} <source_{each.statement.context.rank}>" for each in paragraph
    )
