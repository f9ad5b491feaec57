"""The attack corpus, asked about: nothing hidden reaches a model, and the worst that it can say is text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from ingestion import pipeline
from kb.models import Chunk
from tests.conftest import Cast, make_cast
from tests.ingestion.conftest import upload_to
from tests.samples.hostile.make import EVIL, ORDER, WORST
from tests.testing.chat_models import AnthropicProvider, Turn
from tests.testing.paths import SAMPLES

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "To what height was the dike at Westerhever raised in 1976?"
CORPUS = sorted(path for path in (SAMPLES / "hostile").iterdir() if path.suffix != ".py" and path.is_file())
CITATION = re.compile(r'<citation id="([^"]*)">\[(\d+)\]</citation>')


def ingest_corpus(cast: Cast) -> None:
    """Take every file of the corpus through the real pipeline."""
    for path in CORPUS:
        pipeline.ingest(upload_to(cast.team, path.read_bytes(), path.name).pk)


@pytest.fixture
async def people() -> Cast:
    cast = await sync_to_async(make_cast)()
    await sync_to_async(ingest_corpus)(cast)
    return cast


@pytest.fixture
def provider(settings: Settings) -> Iterator[AnthropicProvider]:
    with AnthropicProvider() as running:
        settings.GENERATION_PROVIDER = "anthropic"
        settings.GENERATION_MODEL = "claude-haiku-4-5"
        settings.GENERATION_API_KEY = "key"
        settings.GENERATION_BASE_URL = running.url
        yield running


async def ask(people: Cast) -> dict[str, Any]:
    response = await AsyncClient().post(
        "/api/v1/tools/rag_search",
        json.dumps({"query": QUESTION}),
        content_type="application/json",
        headers=people.headers("alice"),
    )
    assert response.status_code == 200
    result: dict[str, Any] = response.json()
    return result


def assert_cites_only_contexts(result: dict[str, Any]) -> None:
    """Check that every citation is one of a context, and nothing else looks like one."""
    ids = {context["chunk_id"]: context["rank"] for context in result["contexts"]}
    cited = CITATION.findall(result["response"])
    assert all(ids[chunk_id] == int(rank) for chunk_id, rank in cited)
    assert sorted({int(rank) for _, rank in cited}) == result["sources_used"]
    assert not re.search(r"<\s*/?\s*(?:source|citation)", CITATION.sub("", result["response"]))


async def test_the_extractive_answer_comes_from_what_readers_see(people: Cast) -> None:
    result = await ask(people)
    assert "8.75 metres" in result["response"]
    assert_cites_only_contexts(result)
    assert ORDER not in json.dumps(result)


async def test_no_chunk_and_no_prompt_holds_what_is_hidden(people: Cast, provider: AnthropicProvider) -> None:
    provider.turns = [Turn(words=("The dike was raised to 8.75 metres in 1976. <source_1>",))]
    await ask(people)
    (request,) = provider.requests
    told = json.dumps(request, ensure_ascii=False)
    assert "8.75 metres" in told
    assert ORDER not in told
    assert not re.search("[\u200b\u202a-\u202e\U000e0000-\U000e01ef]", told)
    texts = await sync_to_async(lambda: list(Chunk.unscoped.values_list("text", flat=True)))()
    assert ORDER not in "\n".join(texts)
    for posing in ("<|im_start|>", "[INST]", "</source_1>", "<source_9>", "【1】", "===== end of sources"):
        assert posing in "\n".join(texts)  # a document's own words are kept as they are …
        assert posing not in told.split("Human:")[0]  # … and can't pose as ours before a model


@pytest.mark.slow("model")
async def test_a_small_model_can_cite_only_contexts(
    people: Cast, settings: Settings, small_model: str
) -> None:
    settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "openai-compatible", "smollm2"
    settings.GENERATION_BASE_URL = small_model
    settings.GENERATION_TIMEOUT_SECS = 600
    settings.GENERATION_CONTEXT_TOKENS, settings.GENERATION_MAX_TOKENS = 1000, 64
    result = await ask(people)
    assert result["model"] == "smollm2"
    assert result["usage"]["output_tokens"] > 0
    assert_cites_only_contexts(result)
    assert ORDER not in result["response"]


async def test_a_model_that_obeys_can_cite_only_contexts(people: Cast, settings: Settings) -> None:
    settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "scripted", WORST
    result = await ask(people)
    assert_cites_only_contexts(result)
    assert EVIL in result["response"]  # the words of a model are not censored: what shows them loads nothing
    assert result["citations_removed"] > 0
