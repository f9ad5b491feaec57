"""A deterministic double: says what it is told to say, in fragments as models do. For tests only."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from core.llm.payment import Payment
from search.generation.base import Choice, GenerationRequest, GenerationUsage, Generator, TextStream
from search.generation.extractive import escape_markdown, fold, nothing_found

FRAGMENT = 7
"""Characters; short enough to cut markers apart."""


class ScriptedGenerator(Generator):
    """Says its model's name; without one, the first sentence of each context with its marker."""

    def __init__(self, choice: Choice) -> None:
        """Take any text for a model's name."""
        self.name = "scripted, for tests only"
        self._script = choice.model

    async def answer(self, asked: GenerationRequest, payment: Payment) -> TextStream:
        """Yield fragments of a few characters and let others run between them."""
        said = self._script or "\n".join(_quote_contexts(asked)) or nothing_found(asked)
        for start in range(0, len(said), FRAGMENT):
            await asyncio.sleep(0)
            yield said[start : start + FRAGMENT]
        yield GenerationUsage(
            self.name, input_tokens=len(asked.question.split()), output_tokens=len(said.split())
        )


def _quote_contexts(asked: GenerationRequest) -> Iterator[str]:
    for context in asked.contexts:
        yield f"{escape_markdown(fold(context.sentences[0].text))} <source_{context.rank}>"
