"""A real language model, SmolLM2 with 135 million parameters, served by llama.cpp: does text really stream?

It is far too small to follow the prompt, so what it says is not looked at.
"""

from __future__ import annotations

import pytest
from pytest_django import Settings

from search.generation.base import Choice, GenerationRequest, GenerationUsage, Generator
from search.generation.registry import load
from tests.search.contexts import context
from tests.testing.payments import UNRECORDED

ASKED = GenerationRequest("When was the lighthouse built?", [context(1, "The lighthouse was built in 1893.")])


@pytest.fixture
def generator(small_model: str, settings: Settings) -> Generator:
    settings.GENERATION_MAX_TOKENS = 16
    settings.GENERATION_TIMEOUT_SECS = 600
    return load(Choice("openai-compatible", "smollm2", small_model))


async def test_a_real_answer_streams(generator: Generator) -> None:
    *words, spent = [piece async for piece in generator.answer(ASKED, UNRECORDED)]
    assert len(words) > 3
    assert "".join(map(str, words)).strip()
    assert isinstance(spent, GenerationUsage)
    assert spent.model == "smollm2"
    assert spent.input_tokens > 100
    assert 0 < spent.output_tokens <= 16
    assert spent.cost is None
