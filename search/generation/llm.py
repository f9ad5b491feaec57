"""An answer by a chat model: what fits of the contexts becomes a request, and its words are passed on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.errors import ProviderError
from core.llm.base import ChatRequest, ChatUsage
from core.llm.payment import Payment
from core.llm.prices import TOKENS_A_PICTURE
from core.llm.registry import chat_model
from search.generation.base import (
    MOST_CROPS,
    Choice,
    Crop,
    GenerationRequest,
    GenerationUsage,
    Generator,
    TextStream,
)
from search.generation.extractive import nothing_found
from search.generation.prompting import Prompt, compose

logger = logging.getLogger(__name__)


class LanguageModelGenerator(Generator):
    """Asks a chat model of any provider, which is shown what fits of the contexts."""

    def __init__(self, choice: Choice) -> None:
        """Check what can be checked without a request; raise `ImproperlyConfigured` naming the setting."""
        try:
            self._chat = chat_model(
                choice.provider, choice.model, choice.base_url, choice.api_key, prefix="GENERATION"
            )
        except ImproperlyConfigured as error:
            raise ImproperlyConfigured(
                f"{error} In GENERATION_FALLBACKS it is “{choice.provider}:MODEL@ADDRESS”."
            ) from None
        self.name = choice.model

    @property
    def can_see(self) -> bool:
        """Whether it is shown pictures: `GENERATION_VISION`."""
        return {"on": True, "off": False}.get(settings.GENERATION_VISION, self._chat.sees)

    def describe(self) -> str:
        """Return model, provider and address."""
        return self._chat.describe()

    async def answer(self, asked: GenerationRequest, payment: Payment) -> TextStream:
        """Yield the model's words as they come; without contexts there is nothing to ask."""
        prompt = await self._prompt(asked)
        if not prompt.read:
            yield nothing_found(asked)
            yield GenerationUsage(self.name, read=prompt.read)
            return
        has_begun = False
        try:
            async with aclosing(self._written(prompt, payment)) as pieces:
                async for piece in pieces:
                    has_begun = True
                    yield piece
            return
        except ProviderError:
            if has_begun or not prompt.seen:
                raise
        logger.warning("%s refused pictures, see GENERATION_VISION: it is asked without them.", self.name)
        without_crops = await self._prompt(replace(asked, crops=()))
        async with aclosing(self._written(without_crops, payment)) as pieces:
            async for piece in pieces:
                yield piece

    async def _prompt(self, asked: GenerationRequest) -> Prompt:
        asked = asked if self.can_see else replace(asked, crops=())
        return await asyncio.to_thread(compose, asked, settings.GENERATION_CONTEXT_TOKENS)

    async def _written(self, prompt: Prompt, payment: Payment) -> AsyncGenerator[str | GenerationUsage, None]:
        """Yield the words for one prompt, and what it has taken."""
        stream = self._chat.stream(self._request(prompt), payment, silence=settings.GENERATION_TIMEOUT_SECS)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatUsage):
                    if piece.is_cut:
                        logger.warning("%s reached GENERATION_MAX_TOKENS: its answer is cut off", self.name)
                    tokens = piece.input_tokens, piece.output_tokens
                    yield GenerationUsage(self.name, *tokens, piece.cost, prompt.read, prompt.seen)
                else:
                    yield piece

    def _request(self, prompt: Prompt) -> ChatRequest:
        crops = MOST_CROPS * TOKENS_A_PICTURE if self.can_see else 0
        most = min(prompt.style.max_tokens or settings.GENERATION_MAX_TOKENS, settings.GENERATION_MAX_TOKENS)
        return ChatRequest(
            prompt.instructions,
            [part.png if isinstance(part, Crop) else part for part in prompt.parts],
            # The longest question and answer.
            input_tokens=settings.GENERATION_CONTEXT_TOKENS + crops + len(prompt.style.instructions) // 3,
            output_tokens=most,
            max_tokens=most,
            temperature=prompt.style.temperature,
        )
