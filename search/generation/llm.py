"""An answer by a language model: compose the request, stream it, retry what may pass, count what it took.

    compose ─ open a stream ─ first words (until then: again, after a wait) ─ more words ─ what it has taken

What speaks to providers is pydantic-ai; `core/llm/` names its classes.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

import httpx2
import stamina
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from core.errors import ProviderError
from core.llm.failures import KNOWN
from core.llm.prices import TOKENS_A_PICTURE, cost_of, price_of
from search.generation.base import MOST_CROPS, Choice, GenerationRequest, GenerationUsage, Generator
from search.generation.extractive import nothing_found
from search.generation.failures import LONGEST_WAIT_SECS, ModelFailed, failed, unfinished
from search.generation.prompting import Prompt, compose

ATTEMPTS = 3
FIRST_WAIT_SECS = 0.5

logger = logging.getLogger(__name__)
Item = TypeVar("Item")


class LanguageModelGenerator(Generator):
    """Asks a chat model, which is shown what fits of the contexts."""

    address: str
    """Where the provider answers unless the settings say otherwise."""
    key_settings: str
    """What holds the key, for people; empty if none is needed."""
    sees_by_default = True
    """Whether its models can see, as far as anybody knows."""

    def __init__(self, choice: Choice) -> None:
        """Check what can be checked without a request; raise `ImproperlyConfigured` naming the setting."""
        if not choice.model:
            raise ImproperlyConfigured(
                f"{choice.provider} needs the name of a model: GENERATION_MODEL beside GENERATION_PROVIDER, "
                f"“{choice.provider}:MODEL” in GENERATION_FALLBACKS."
            )
        if self.key_settings and not choice.api_key:
            raise ImproperlyConfigured(f"{choice.provider} needs a key: {self.key_settings}.")
        self.name = choice.model
        self._provider = choice.provider
        self._url = choice.base_url or self.address
        self._key = choice.api_key
        # Reading the certificates takes fifty milliseconds; every client shares them.
        self._certificates = httpx2.create_ssl_context()

    @property
    def can_see(self) -> bool:
        """Whether it is shown pictures: `GENERATION_VISION`."""
        return {"on": True, "off": False}.get(settings.GENERATION_VISION, self.sees_by_default)

    def describe(self) -> str:
        """Return model, provider and address."""
        where = httpx2.URL(self._url).copy_with(userinfo=b"", query=None)
        return f"{self.name} by {self._provider} at {where}"

    def likely_cost(self) -> Decimal:
        """Return the price of the longest question and answer."""
        crops = MOST_CROPS * TOKENS_A_PICTURE if self.can_see else 0
        read = settings.GENERATION_CONTEXT_TOKENS + crops
        return price_of(self._provider, self.name, read, settings.GENERATION_MAX_TOKENS)

    @abstractmethod
    def model(self, client: httpx2.AsyncClient) -> Model:
        """Return pydantic-ai's model of this name, which speaks through `client`."""

    async def answer(self, asked: GenerationRequest) -> AsyncGenerator[str | GenerationUsage, None]:
        """Yield the model's words as they come; without contexts there is nothing to ask."""
        prompt = await self._prompt(asked)
        if not prompt.read:
            yield nothing_found(asked)
            yield GenerationUsage(self.name, read=prompt.read)
            return
        try:
            first, rest = await self._begun_seeing(asked, prompt)
            async with aclosing(rest):
                yield first
                async for piece in rest:
                    yield piece
        except ModelFailed as failure:
            logger.warning("%s failed: %s", self.describe(), failure.cause)
            raise failure.error from None

    async def _prompt(self, asked: GenerationRequest) -> Prompt:
        asked = asked if self.can_see else replace(asked, crops=())
        return await asyncio.to_thread(compose, asked, settings.GENERATION_CONTEXT_TOKENS)

    async def _begun_seeing(
        self, asked: GenerationRequest, prompt: Prompt
    ) -> tuple[str | GenerationUsage, AsyncGenerator[str | GenerationUsage, None]]:
        """Begin as `_begun` does; a model that refuses crops is asked again without them."""
        try:
            return await self._begun(prompt)
        except ModelFailed as failure:
            if not prompt.seen or not isinstance(failure.error, ProviderError):
                raise
            logger.warning("%s refused pictures, see GENERATION_VISION: %s", self.name, failure.cause)
        return await self._begun(await self._prompt(replace(asked, crops=())))

    async def _begun(
        self, prompt: Prompt
    ) -> tuple[str | GenerationUsage, AsyncGenerator[str | GenerationUsage, None]]:
        """Return the first words and the generator of the rest, after a few attempts if need be."""
        async for attempt in stamina.retry_context(
            on=lambda error: isinstance(error, ModelFailed) and error.again,
            attempts=ATTEMPTS,
            timeout=None,
            wait_initial=FIRST_WAIT_SECS,
            wait_max=LONGEST_WAIT_SECS,
        ):
            with attempt:
                pieces = self._pieces(prompt)
                return await anext(pieces), pieces
        raise AssertionError("the last attempt returns or raises")

    async def _pieces(self, prompt: Prompt) -> AsyncGenerator[str | GenerationUsage, None]:
        """Yield the words of one attempt and what it has taken; raise nothing but `ModelFailed`."""
        said = False
        try:
            events = _in_time(self._events(prompt), settings.GENERATION_TIMEOUT_SECS)
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, ModelResponse):
                        self._check(event, said)
                        yield self._spent(event, prompt)
                    elif words := _words(event):
                        said = True
                        yield words
        except KNOWN as error:
            raise failed(self.name, error, self._key) from None

    async def _events(self, prompt: Prompt) -> AsyncGenerator[ModelResponseStreamEvent | ModelResponse, None]:
        """Yield what the library makes of the stream, and last the whole response."""
        messages = [ModelRequest([UserPromptPart(_content(prompt))], instructions=prompt.instructions)]
        options = ModelSettings(max_tokens=settings.GENERATION_MAX_TOKENS, max_retries=0)
        # A client of its own: connections belong to one event loop, and close when the answer is given up.
        async with (
            httpx2.AsyncClient(verify=self._certificates) as client,
            model_request_stream(self.model(client), messages, model_settings=options) as stream,
        ):
            async for event in stream:
                yield event
            yield stream.get()

    def _check(self, response: ModelResponse, said: bool) -> None:
        """Raise `ModelFailed` if the response is none, or was cut off without an error."""
        if not (response.provider_details or {}).get("finish_reason"):
            raise unfinished(self.name, "the stream ended without a reason", again=True)
        if response.finish_reason == "content_filter" or not said:
            cause = f"it ended with “{response.finish_reason}” and {'some' if said else 'no'} words"
            raise unfinished(self.name, cause, again=False)
        if response.finish_reason == "length":
            logger.warning("%s reached GENERATION_MAX_TOKENS: its answer is cut off", self.name)

    def _spent(self, response: ModelResponse, prompt: Prompt) -> GenerationUsage:
        usage = response.usage
        tokens = usage.input_tokens, usage.output_tokens
        return GenerationUsage(self.name, *tokens, cost_of(response), prompt.read, prompt.seen)


async def _in_time(items: AsyncGenerator[Item, None], secs: float) -> AsyncGenerator[Item, None]:
    """Yield the items; raise `TimeoutError` if the first or the next takes longer than `secs`."""
    async with aclosing(items):
        while True:
            try:
                async with asyncio.timeout(secs):
                    item = await anext(items)
            except StopAsyncIteration:
                return
            yield item


def _content(prompt: Prompt) -> str | list[str | BinaryContent]:
    if not prompt.seen:
        return prompt.message
    return [
        part if isinstance(part, str) else BinaryContent(part.png, media_type="image/png")
        for part in prompt.parts
    ]


def _words(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=words)):
            return words
        case PartDeltaEvent(delta=TextPartDelta(content_delta=words)):
            return words
    return ""
