"""Language models through servers that speak their wire formats: good answers, and every way to fail."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import aclosing
from decimal import Decimal

import pytest
import stamina
from pytest_django import Settings

from core.errors import LocusError, Overloaded, ProviderError, Timeout
from core.llm import gateway
from search.generation.base import Choice, GenerationRequest, GenerationUsage, Generator
from search.generation.registry import load
from tests.search.contexts import context
from tests.testing.chat_models import DOUBLES, KEY, MODELS, ScriptedProvider, Turn
from tests.testing.payments import UNRECORDED

ASKED = GenerationRequest("When was the lighthouse built?", [context(1, "The lighthouse was built in 1893.")])
GOOD = "".join(Turn().words)


@pytest.fixture(params=sorted(DOUBLES))
def named(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def provider(named: str) -> Iterator[ScriptedProvider]:
    with DOUBLES[named]() as running, stamina.set_testing(True, attempts=gateway.ATTEMPTS):
        yield running


@pytest.fixture
def generator(named: str, provider: ScriptedProvider) -> Generator:
    return load(Choice(named, MODELS[named], provider.url, KEY))


async def response(generator: Generator, asked: GenerationRequest = ASKED) -> str:
    return "".join([piece async for piece in generator.answer(asked, UNRECORDED) if isinstance(piece, str)])


async def until_failure(generator: Generator) -> tuple[str, LocusError]:
    """Return what was said before the answer failed, and how it failed."""
    said = ""
    with pytest.raises(LocusError) as caught:
        async for piece in generator.answer(ASKED, UNRECORDED):
            said += str(piece)
    return said, caught.value


# --- When all is well ------------------------------------------------------------------------------------


async def test_words_come_as_they_are_sent(generator: Generator) -> None:
    pieces = [piece async for piece in generator.answer(ASKED, UNRECORDED)]
    assert tuple(pieces[:-1]) == Turn().words


async def test_what_it_took_has_tokens_and_a_price_where_one_is_known(
    generator: Generator, named: str
) -> None:
    *_, spent = [piece async for piece in generator.answer(ASKED, UNRECORDED)]
    # Dollars for a million tokens: 1 and 5 for claude-haiku-4-5, 0.25 and 2 for gpt-5-mini.
    costs = {"anthropic": Decimal("0.0015"), "openai": Decimal("0.00045"), "openai-compatible": None}
    assert spent == GenerationUsage(MODELS[named], 1000, 100, costs[named], frozenset({1}))


async def test_the_request_is_what_the_provider_documents(
    generator: Generator, provider: ScriptedProvider, named: str, settings: Settings
) -> None:
    settings.GENERATION_MAX_TOKENS = 321
    await response(generator)
    (request,) = provider.requests
    headers = {name.lower(): value for name, value in request["headers"].items()}
    assert request["stream"] is True
    assert request["model"] == MODELS[named]
    assert headers["authorization"] == f"Bearer {KEY}"
    if named == "anthropic":
        assert request["max_tokens"] == 321
        system, (message,) = request["system"], request["messages"]
    else:
        assert request["max_completion_tokens" if named == "openai" else "max_tokens"] == 321
        assert request["stream_options"] == {"include_usage": True}
        first, message = request["messages"]
        system = first["content"]
    assert "Answer from the sources alone" in str(system)
    assert "The lighthouse was built in 1893." in str(message["content"])
    assert ASKED.question in str(message["content"])


async def test_no_two_requests_have_the_same_fence(generator: Generator, provider: ScriptedProvider) -> None:
    await response(generator)
    await response(generator)
    first, second = provider.requests
    assert first["messages"] != second["messages"]


async def test_a_full_answer_is_kept_and_told_in_the_log(
    generator: Generator, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.turns = [Turn(ends="full")]
    assert await response(generator) == GOOD
    assert "GENERATION_MAX_TOKENS" in caplog.text


# --- Before the first word -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "turn",
    [
        Turn(status=429, error="rate_limit_error", headers={"Retry-After": "1"}),
        Turn(status=429, headers={"retry-after-ms": "5"}),
        Turn(status=500),
        Turn(status=503),
        Turn(status=529, error="overloaded_error"),
        Turn(words=(), error="overloaded_error"),
        Turn(words=(), ends="cut"),
        Turn(words=(), ends="early"),
    ],
    ids=lambda turn: f"{turn.status} {turn.error} {turn.ends}",
)
async def test_what_may_pass_is_tried_again(
    generator: Generator, provider: ScriptedProvider, turn: Turn
) -> None:
    provider.turns = [turn, turn]
    assert await response(generator) == GOOD
    assert len(provider.requests) == 3


@pytest.mark.parametrize(
    ("turn", "error"),
    [
        (Turn(status=429, error="rate_limit_error"), Overloaded),
        (Turn(status=503), Overloaded),
        (Turn(status=529, error="overloaded_error"), Overloaded),
        (Turn(words=(), error="overloaded_error"), Overloaded),
        (Turn(status=500), ProviderError),
        (Turn(words=(), ends="cut"), ProviderError),
    ],
    ids=lambda value: f"{value.status} {value.error} {value.ends}" if isinstance(value, Turn) else "",
)
async def test_but_not_for_ever(
    generator: Generator, provider: ScriptedProvider, turn: Turn, error: type[LocusError]
) -> None:
    provider.turns = [turn] * 9
    said, failure = await until_failure(generator)
    assert said == ""
    assert len(provider.requests) == gateway.ATTEMPTS
    assert type(failure) is error


@pytest.mark.parametrize(
    ("turn", "blamed"),
    [
        (Turn(status=401, error="authentication_error"), "GENERATION_API_KEY"),
        (Turn(status=404, error="not_found_error"), "GENERATION_MODEL"),
        (Turn(status=400, error="invalid_request_error"), ""),
        (Turn(words=(), ends="garbled"), ""),
        (Turn(words=(), ends="well"), "no words"),
        (Turn(words=(), ends="refused"), "content_filter"),
    ],
    ids=lambda value: f"{value.status} {value.ends}" if isinstance(value, Turn) else "",
)
async def test_what_will_not_pass_is_not_tried_again(
    generator: Generator,
    provider: ScriptedProvider,
    turn: Turn,
    blamed: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider.turns = [turn]
    said, failure = await until_failure(generator)
    assert (said, type(failure)) == ("", ProviderError)
    assert len(provider.requests) == 1
    assert blamed in caplog.text


async def test_more_patience_than_is_reasonable_is_not_had(
    generator: Generator, provider: ScriptedProvider
) -> None:
    provider.turns = [Turn(status=429, headers={"Retry-After": "3600"})]
    _, failure = await until_failure(generator)
    assert type(failure) is Overloaded
    assert len(provider.requests) == 1


async def test_the_wait_is_what_the_provider_asks_for(
    generator: Generator, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Our own wait would outlast the patience of whoever runs the tests.
    monkeypatch.setattr(gateway, "FIRST_WAIT_SECS", 3600)
    monkeypatch.setattr(gateway, "LONGEST_WAIT_SECS", 3600)
    provider.turns = [Turn(status=429, headers={"Retry-After": "0"})]
    with stamina.set_testing(False):
        assert await response(generator) == GOOD


async def test_a_server_that_is_not_there_is_a_provider_error(named: str, provider: ScriptedProvider) -> None:
    absent = load(Choice(named, MODELS[named], "http://127.0.0.1:1/v1", KEY))
    said, failure = await until_failure(absent)
    assert (said, type(failure)) == ("", ProviderError)


async def test_a_slow_first_word_is_a_timeout(
    generator: Generator, provider: ScriptedProvider, settings: Settings
) -> None:
    settings.GENERATION_TIMEOUT_SECS = 0.5
    never = threading.Event()
    provider.turns = [Turn(waits=never)]
    said, failure = await until_failure(generator)
    assert (said, type(failure)) == ("", Timeout)
    assert len(provider.requests) <= 1
    never.set()


# --- After the first word --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "turn",
    [
        Turn(ends="cut"),
        Turn(ends="early"),
        Turn(ends="garbled"),
        Turn(ends="refused"),
        Turn(error="api_error"),
    ],
    ids=lambda turn: f"{turn.ends} {turn.error}",
)
async def test_an_answer_that_breaks_off_is_an_error_and_not_begun_anew(
    generator: Generator, provider: ScriptedProvider, turn: Turn
) -> None:
    provider.turns = [turn]
    said, failure = await until_failure(generator)
    assert (said, type(failure)) == (GOOD, ProviderError)
    assert len(provider.requests) == 1


async def test_words_that_do_not_go_on_are_a_timeout(
    generator: Generator, provider: ScriptedProvider, settings: Settings
) -> None:
    settings.GENERATION_TIMEOUT_SECS = 3
    provider.turns = [Turn(ends="silent")]
    said, failure = await until_failure(generator)
    assert (said, type(failure)) == (GOOD, Timeout)
    assert provider.left.wait(30)


# --- Leaving ---------------------------------------------------------------------------------------------


async def test_closing_the_answer_closes_the_connection(
    generator: Generator, provider: ScriptedProvider
) -> None:
    provider.turns = [Turn(ends="silent")]
    async with aclosing(generator.answer(ASKED, UNRECORDED)) as pieces:
        await anext(pieces)
        assert not provider.left.is_set()
    assert await asyncio.to_thread(provider.left.wait, 30)


@pytest.mark.parametrize("words", [(), Turn().words], ids=["before a word", "among words"])
async def test_cancelling_closes_the_connection(
    generator: Generator, provider: ScriptedProvider, words: tuple[str, ...]
) -> None:
    provider.turns = [Turn(words=words, ends="silent")]
    task = asyncio.create_task(response(generator))
    while not provider.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(provider.left.wait, 30)


# --- Secrets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
async def test_no_error_and_no_log_holds_the_key(
    generator: Generator, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.turns = [Turn(status=status)] * 9
    _, failure = await until_failure(generator)
    assert any(KEY in value for value in provider.requests[0]["headers"].values())
    assert KEY not in caplog.text + repr(failure) + repr(failure.__cause__) + repr(generator)
    assert not [record for record in caplog.records if KEY in repr(vars(record))]
    assert "could not answer" in failure.message or "busy" in failure.message


# --- Chains ----------------------------------------------------------------------------------------------


async def test_where_one_fails_before_its_first_word_the_next_is_asked(
    named: str, provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.turns = [Turn(status=500)] * gateway.ATTEMPTS
    chain = load(Choice(named, MODELS[named], provider.url, KEY), Choice("scripted", "It was 1893."))
    *words, spent = [piece async for piece in chain.answer(ASKED, UNRECORDED)]
    assert "".join(map(str, words)) == "It was 1893."
    assert isinstance(spent, GenerationUsage)
    assert spent.model.startswith("scripted")
    assert "the next one is asked" in caplog.text


async def test_after_the_first_word_nobody_else_is_asked(named: str, provider: ScriptedProvider) -> None:
    provider.turns = [Turn(ends="cut")]
    chain = load(Choice(named, MODELS[named], provider.url, KEY), Choice("scripted", "It was 1893."))
    said, failure = await until_failure(chain)
    assert (said, type(failure)) == (GOOD, ProviderError)


async def test_the_last_of_a_chain_has_the_last_word(named: str, provider: ScriptedProvider) -> None:
    provider.turns = [Turn(status=400)] + [Turn(status=503)] * gateway.ATTEMPTS
    choice = Choice(named, MODELS[named], provider.url, KEY)
    _, failure = await until_failure(load(choice, choice))
    assert type(failure) is Overloaded
