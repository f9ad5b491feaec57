"""Answerers one after another: where one fails before its first word, the next is asked."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from decimal import Decimal

from core.errors import Overloaded, ProviderError, Timeout
from search.generation.base import Answerer, Asked, Spent

logger = logging.getLogger(__name__)


class Chain(Answerer):
    """What `GENERATION_FALLBACKS` makes of several answerers; `Spent` tells which of them answered."""

    def __init__(self, answerers: Sequence[Answerer]) -> None:
        """Take at least one answerer, the preferred one first."""
        self._answerers = answerers
        self.name = answerers[0].name

    @property
    def can_see(self) -> bool:
        """Whether one of them takes crops."""
        return any(answerer.can_see for answerer in self._answerers)

    def describe(self) -> str:
        """Return the answerers in the order in which they are asked."""
        return ", or else ".join(answerer.describe() for answerer in self._answerers)

    def likely_cost(self) -> Decimal:
        """Return what the dearest may cost."""
        return max(answerer.likely_cost() for answerer in self._answerers)

    async def answer(self, asked: Asked) -> AsyncGenerator[str | Spent, None]:
        """Yield the answer of the first that begins one; if none does, raise what the last raised."""
        first, rest = await self._begun(asked)
        async with aclosing(rest):
            yield first
            async for piece in rest:
                yield piece

    async def _begun(self, asked: Asked) -> tuple[str | Spent, AsyncGenerator[str | Spent, None]]:
        *preferred, last = self._answerers
        for answerer in preferred:
            pieces = answerer.answer(asked)
            try:
                return await anext(pieces), pieces
            except (ProviderError, Timeout, Overloaded) as error:
                logger.warning("%s does not answer (%s): the next one is asked", answerer.name, error.code)
        pieces = last.answer(asked)
        return await anext(pieces), pieces
