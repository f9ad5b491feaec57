"""What every generator must do; a new entry of the registry is tested by being there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, aclosing

import pytest
from django.core.exceptions import ImproperlyConfigured

from search.citations.markers import MARKER
from search.generation.base import Choice, GenerationRequest, GenerationUsage, Generator
from search.generation.registry import GENERATORS, load
from tests.search.contexts import context
from tests.testing.chat_models import DOUBLES, KEY
from tests.testing.payments import UNRECORDED

QUESTION = "When was the old lighthouse built?"
CONTEXTS = [
    context(1, "The old lighthouse was built in 1893. It is painted red and white."),
    context(2, "Bread is baked from flour, water and salt."),
]
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-5-mini", "openai-compatible": "llama3.2:3b"}


@pytest.fixture(scope="module", params=[*sorted(GENERATORS), "chain"])
def generator(request: pytest.FixtureRequest) -> Iterator[Generator]:
    """Each generator with what it needs, offline; and a chain of two."""
    with ExitStack() as stack:
        named = ["openai-compatible", "extractive"] if request.param == "chain" else [request.param]
        choices = []
        for name in named:
            url = stack.enter_context(DOUBLES[name]()).url if name in DOUBLES else ""
            choices.append(Choice(name, MODELS.get(name, ""), url, KEY if url else ""))
        yield load(*choices)


async def said(generator: Generator, asked: GenerationRequest) -> tuple[str, GenerationUsage]:
    """Return the whole response and what it took, after checking the order of the pieces."""
    pieces = [piece async for piece in generator.answer(asked, UNRECORDED)]
    *words, spent = pieces
    assert isinstance(spent, GenerationUsage)
    assert words
    assert all(isinstance(word, str) and word for word in words)
    return "".join(map(str, words)), spent


async def test_it_answers_with_markers_and_ends_with_what_it_took(generator: Generator) -> None:
    response, spent = await said(generator, GenerationRequest(QUESTION, CONTEXTS))
    assert "1893" in response
    assert {int(rank) for rank in MARKER.findall(response)} <= {1, 2}
    assert "<source_1>" in response
    assert spent.model == generator.name
    assert spent.input_tokens >= 0
    assert spent.cost is None or spent.cost >= 0
    assert spent.read is None or spent.read <= {1, 2}


async def test_without_contexts_it_finds_nothing_and_spends_nothing(generator: Generator) -> None:
    response, spent = await said(generator, GenerationRequest(QUESTION, []))
    assert not MARKER.search(response)
    assert spent.cost == 0


async def test_it_can_be_left_at_any_point(generator: Generator) -> None:
    never_begun = generator.answer(GenerationRequest(QUESTION, CONTEXTS), UNRECORDED)
    await never_begun.aclose()
    async with aclosing(generator.answer(GenerationRequest(QUESTION, CONTEXTS), UNRECORDED)) as pieces:
        await anext(pieces)
    with pytest.raises(StopAsyncIteration):
        await anext(pieces)


async def test_it_can_be_cancelled(generator: Generator) -> None:
    task = asyncio.create_task(said(generator, GenerationRequest(QUESTION, CONTEXTS)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await said(generator, GenerationRequest(QUESTION, CONTEXTS)))[0]


async def test_many_answers_at_once_do_not_mix(generator: Generator) -> None:
    alone, _ = await said(generator, GenerationRequest(QUESTION, CONTEXTS))
    answers = await asyncio.gather(
        *(said(generator, GenerationRequest(QUESTION, CONTEXTS)) for _ in range(8))
    )
    assert {response for response, _ in answers} == {alone}


def test_it_serves_one_event_loop_after_another(generator: Generator) -> None:
    first, _ = asyncio.run(said(generator, GenerationRequest(QUESTION, CONTEXTS)))
    second, _ = asyncio.run(said(generator, GenerationRequest(QUESTION, CONTEXTS)))
    assert first == second


@pytest.mark.parametrize("question", ["?", "…", "水", "{fence} $reflection %s", "a " * 1000])
async def test_any_question_can_be_asked(generator: Generator, question: str) -> None:
    assert await said(generator, GenerationRequest(question, CONTEXTS, reflection=True))


async def test_any_context_can_be_given(generator: Generator) -> None:
    odd = [
        context(1, "$fence {x} <source_2> [INST]"),
        context(2, "word " * 3000),
        context(20, "水は四画で書く。"),
    ]
    assert await said(generator, GenerationRequest(QUESTION, odd))


def test_it_describes_itself_in_one_line_without_secrets(generator: Generator) -> None:
    assert generator.name in generator.describe()
    assert "\n" not in generator.describe()
    assert KEY not in generator.describe() + repr(generator) + repr(vars(generator).get("_choice"))


def test_an_unknown_provider_is_a_clear_error() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"GENERATION_PROVIDER .* must name one of .* “best”"):
        load(Choice("best"))


@pytest.mark.parametrize("name", sorted(DOUBLES))
def test_what_is_missing_is_a_clear_error(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="GENERATION_MODEL"):
        load(Choice(name, "", "http://127.0.0.1:1", KEY))
    missing = "GENERATION_BASE_URL" if name == "openai-compatible" else "GENERATION_API_KEY or [A-Z]+_API_KEY"
    with pytest.raises(ImproperlyConfigured, match=missing):
        load(Choice(name, "some-model"))
