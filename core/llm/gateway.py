"""A chat model: asked for a whole answer, or for its words as they come. Always paid, limited and retried.

reserve ─ open a request ─ first words (until then: again, after a wait) ─ more words ─ usage ─ settle
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from typing import Any, TypeVar

import httpx2
import stamina
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from core.last_errors import note_error_async
from core.llm.base import ChatProvider, ChatReply, ChatRequest, ChatUsage, FunctionCall
from core.llm.failures import KNOWN, LONGEST_WAIT_SECS, ModelFailed, failed, unfinished
from core.llm.http import http_client
from core.llm.payment import ActualCost, Payment
from core.llm.prices import cost_of, price_at, price_of
from core.tracing import detached_span

ATTEMPTS = 3
FIRST_WAIT_SECS = 0.5

logger = logging.getLogger(__name__)
Item = TypeVar("Item")


class ChatModel:
    """A chat model as the settings name it. Any number of requests at once, in any event loop.

    `registry.chat_model` makes it. The key shows in no `repr`, error or log.
    """

    def __init__(
        self,
        provider: ChatProvider,
        provider_name: str,
        name: str,
        address: str,
        key: str,
        *,
        prefix: str,
        priced_by_address: bool,
    ) -> None:
        self.name = name
        """The model, as results and the ledger name it."""
        self.sees = provider.sees
        """Whether it can see, as far as anybody knows."""
        self._provider, self._provider_name = provider, provider_name
        self._address, self._key, self._prefix = address, key, prefix
        self._priced_by_address = priced_by_address

    @property
    def address(self) -> str:
        """Where it is, for people: without password and query."""
        return str(httpx2.URL(self._address).copy_with(userinfo=b"", query=None))

    def describe(self) -> str:
        """Return model, provider and address, without secrets."""
        return f"{self.name} by {self._provider_name} at {self.address}"

    def price(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return the US dollars for so many tokens; 0 if nothing, or nobody knows the price."""
        if self._priced_by_address:
            return price_at(self._address, self.name, input_tokens, output_tokens)
        if not self._provider.has_prices:
            return Decimal(0)
        return price_of(self._provider_name, self.name, input_tokens, output_tokens)

    async def ask(self, request: ChatRequest, payment: Payment, *, within: float) -> ChatReply:
        """Return the whole answer, `within` so many seconds, further attempts included.

        Raise `ProviderError`, `Timeout` or `Overloaded`, whose cause is the `ModelFailed` of the log, or
        `BudgetExceeded` before anything is asked.
        """
        until = time.monotonic() + within
        async with self._paid(request, payment) as bill:
            response = await self._response(request, bill, until)
            usage = self._usage(response)
            bill.cost = usage.cost
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
        return ChatReply(text, usage, calls)

    async def stream(
        self, request: ChatRequest, payment: Payment, *, silence: float
    ) -> AsyncGenerator[str | ChatUsage, None]:
        """Yield the words as they come, none of them empty, and last the usage.

        Raise as `ask` does, also after some words: then nothing is begun anew. `silence` is how many seconds
        the first and each next piece may take. Closing the generator ends the request at once.
        """
        async with self._paid(request, payment) as bill:
            first, rest = await self._begun(request, bill, silence)
            async with aclosing(rest):
                yield first
                async for piece in rest:
                    yield piece

    @asynccontextmanager
    async def _paid(self, request: ChatRequest, payment: Payment) -> AsyncIterator[ActualCost]:
        """Pay for the block; raise what callers are told where the block raises `ModelFailed`."""
        estimate = self.price(request.input_tokens, request.output_tokens)
        named = {"gen_ai.provider.name": self._provider_name, "gen_ai.request.model": self.name}
        try:
            async with payment.reserve(self.name, estimate) as bill:
                with detached_span("chat", named):
                    yield bill
        except ModelFailed as failure:
            logger.warning("%s failed: %s", self.describe(), failure)
            await note_error_async(f"{self._provider_name}:{self.name}", failure)
            raise failure.error from failure

    # --- Whole answers -------------------------------------------------------------------------------------

    async def _response(self, request: ChatRequest, bill: ActualCost, until: float) -> ModelResponse:
        """Return the response, after a few attempts if need be; `until` is of `time.monotonic()`."""
        try:
            async for attempt in _attempts(until):
                with attempt:
                    return await self._one_response(request, until)
        except ModelFailed as failure:
            _settle_failure(bill, failure)
            raise
        raise AssertionError("the last attempt returns or raises")

    async def _one_response(self, request: ChatRequest, until: float) -> ModelResponse:
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())), http_client() as client:
                return await model_request(
                    self._model(client),
                    _messages(request),
                    model_settings=_options(request),
                    model_request_parameters=_parameters(request),
                )
        except KNOWN as error:
            raise failed(self.name, error, self._key, self._prefix) from None

    # --- Words as they come --------------------------------------------------------------------------------

    async def _begun(
        self, request: ChatRequest, bill: ActualCost, silence: float
    ) -> tuple[str | ChatUsage, AsyncGenerator[str | ChatUsage, None]]:
        """Return the first words and the generator of the rest, after a few attempts if need be."""
        try:
            async for attempt in _attempts():
                with attempt:
                    pieces = self._pieces(request, bill, silence)
                    return await anext(pieces), pieces
        except ModelFailed as failure:
            _settle_failure(bill, failure)
            raise
        raise AssertionError("the last attempt returns or raises")

    async def _pieces(
        self, request: ChatRequest, bill: ActualCost, silence: float
    ) -> AsyncGenerator[str | ChatUsage, None]:
        """Yield the words of one attempt and its usage; raise nothing but `ModelFailed`."""
        has_words = False
        try:
            async with aclosing(_in_time(self._events(request), silence)) as events:
                async for event in events:
                    if isinstance(event, ModelResponse):
                        yield self._finished(event, bill, has_words=has_words)
                    elif words := _words(event):
                        has_words = True
                        yield words
        except KNOWN as error:
            raise failed(self.name, error, self._key, self._prefix) from None

    async def _events(
        self, request: ChatRequest
    ) -> AsyncGenerator[ModelResponseStreamEvent | ModelResponse, None]:
        """Yield what the library makes of the stream, and last the whole response."""
        async with (
            http_client() as client,
            model_request_stream(
                self._model(client), [_message(request)], model_settings=_options(request)
            ) as stream,
        ):
            async for event in stream:
                yield event
            yield stream.get()

    def _finished(self, response: ModelResponse, bill: ActualCost, *, has_words: bool) -> ChatUsage:
        """Return the usage; raise `ModelFailed` if the response is none, or was cut off without an error."""
        if not (response.provider_details or {}).get("finish_reason"):
            raise unfinished(self.name, "the stream ended without a reason", again=True)
        usage = self._usage(response)
        bill.cost = usage.cost
        if response.finish_reason == "content_filter" or not has_words:
            cause = f"it ended with “{response.finish_reason}” and {'some' if has_words else 'no'} words"
            raise unfinished(self.name, cause, again=False)
        return usage

    # --- What the library takes and gives ------------------------------------------------------------------

    def _model(self, client: httpx2.AsyncClient) -> Model:
        return self._provider.model(self.name, self._address, self._key, client)

    def _usage(self, response: ModelResponse) -> ChatUsage:
        return ChatUsage(
            response.usage.input_tokens,
            response.usage.output_tokens,
            cost_of(response, by_address=self._priced_by_address),
            is_cut=response.finish_reason == "length",
        )


def _attempts(until: float | None = None) -> AsyncIterator[stamina.Attempt]:
    """Yield a few attempts, with a wait between them; none that would begin after `until`."""

    def wait(error: Exception) -> bool | float:
        if not isinstance(error, ModelFailed) or error.again is False:
            return False
        secs = FIRST_WAIT_SECS if error.again is True else error.again
        return error.again if until is None or time.monotonic() + secs < until else False

    return aiter(
        stamina.retry_context(
            on=wait,
            attempts=ATTEMPTS,
            timeout=None,
            wait_initial=FIRST_WAIT_SECS,
            wait_max=LONGEST_WAIT_SECS,
        )
    )


def _settle_failure(bill: ActualCost, failure: ModelFailed) -> None:
    """What a provider has refused costs nothing, unless it has counted what it took."""
    if bill.cost is None and not failure.may_be_billed:
        bill.cost = Decimal(0)


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


def _message(request: ChatRequest) -> ModelRequest:
    content: list[str | BinaryContent] = [
        BinaryContent(part, media_type="image/png") if isinstance(part, bytes) else part
        for part in request.parts
    ]
    return ModelRequest([UserPromptPart(_one_text(content))], instructions=request.instructions)


def _messages(request: ChatRequest) -> list[ModelMessage]:
    """Return the question, and each step of calls as the model's answer and our reply to it."""
    messages: list[ModelMessage] = [_message(request)]
    for step in request.steps:
        asked = [ToolCallPart(call.name, _arguments(call), call.id) for call, _ in step.results]
        given = [ToolReturnPart(call.name, text, call.id) for call, text in step.results]
        messages += [ModelResponse(asked), ModelRequest(given, instructions=request.instructions)]
    return messages


def _parameters(request: ChatRequest) -> ModelRequestParameters:
    functions = [
        ToolDefinition(
            name=each.name, description=each.description, parameters_json_schema=dict(each.input_schema)
        )
        for each in request.functions
    ]
    return ModelRequestParameters(function_tools=functions)


def _call(part: ToolCallPart) -> FunctionCall:
    try:
        arguments: object = part.args_as_dict()
    except (ValueError, AssertionError):
        arguments = part.args
    return FunctionCall(part.tool_call_id, part.tool_name, arguments)


def _arguments(call: FunctionCall) -> dict[str, Any]:
    # Providers refuse to read again what is no object, also where their model wrote it.
    return call.arguments if isinstance(call.arguments, dict) else {}


def _one_text(content: list[str | BinaryContent]) -> str | list[str | BinaryContent]:
    match content:
        case [str(text)]:
            return text
    return content


def _options(request: ChatRequest) -> ModelSettings:
    # Attempts are ours: the clients' own do not see an error event after HTTP 200.
    options = ModelSettings(max_retries=0)
    if request.max_tokens is not None:
        options["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.must_call:
        options["tool_choice"] = list(request.must_call)
    return options


def _words(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=words)):
            return words
        case PartDeltaEvent(delta=TextPartDelta(content_delta=words)):
            return words
    return ""
