"""Generators one after another: where one fails before its first word, the next is asked."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from core.errors import Overloaded, ProviderError, Timeout
from core.llm.payment import Payment
from search.generation.base import FailedModel, GenerationRequest, GenerationUsage, Generator, TextStream

logger = logging.getLogger(__name__)


class Chain(Generator):
    """The generators of `GENERATION_FALLBACKS`, in order; `GenerationUsage` tells which one answered."""

    def __init__(self, generators: Sequence[Generator]) -> None:
        """Take at least one generator, the preferred one first."""
        self._generators = generators
        self.name = generators[0].name

    @property
    def can_see(self) -> bool:
        """Whether one of them takes crops."""
        return any(generator.can_see for generator in self._generators)

    def describe(self) -> str:
        """Return the generators in the order in which they are asked."""
        return ", or else ".join(generator.describe() for generator in self._generators)

    async def answer(self, asked: GenerationRequest, payment: Payment) -> TextStream:
        """Yield the answer of the first that begins one; if none does, raise what the last raised."""
        failed: list[FailedModel] = []
        first, rest = await self._begun(asked, payment, failed)
        async with aclosing(rest):
            yield _with_failed(first, failed)
            async for piece in rest:
                yield _with_failed(piece, failed)

    async def _begun(
        self, asked: GenerationRequest, payment: Payment, failed: list[FailedModel]
    ) -> tuple[str | GenerationUsage, TextStream]:
        """Return the first piece and the rest of the first answer that begins; add to `failed` the others."""
        *preferred, last = self._generators
        for generator in preferred:
            pieces = generator.answer(asked, payment)
            try:
                return await anext(pieces), pieces
            except (ProviderError, Timeout, Overloaded) as error:
                logger.warning("%s does not answer (%s): the next one is asked", generator.name, error.code)
                failed.append(FailedModel(generator.name, error.code))
        pieces = last.answer(asked, payment)
        return await anext(pieces), pieces


def _with_failed(piece: str | GenerationUsage, failed: Sequence[FailedModel]) -> str | GenerationUsage:
    return replace(piece, failed=tuple(failed)) if isinstance(piece, GenerationUsage) else piece
