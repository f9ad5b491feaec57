"""`rag_search` with a language model behind it, from the API to the provider's wire format and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import stamina
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from core.llm.gateway import ATTEMPTS
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.chat_models import AnthropicProvider, Turn

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "The old lighthouse was built in 1893. It is painted red and white."


@pytest.fixture
def provider(settings: Settings) -> Iterator[AnthropicProvider]:
    with AnthropicProvider() as running, stamina.set_testing(True, attempts=ATTEMPTS):
        settings.GENERATION_PROVIDER = "anthropic"
        settings.GENERATION_MODEL = "claude-haiku-4-5"
        settings.GENERATION_API_KEY = "key"
        settings.GENERATION_BASE_URL = running.url
        yield running


@pytest.fixture
async def people() -> Cast:
    cast = await sync_to_async(make_cast)()
    await sync_to_async(indexed_document)(cast.team, TEXT, name="lighthouse.pdf")
    return cast


async def ask(people: Cast) -> Any:
    return await AsyncClient().post(
        "/api/v1/tools/rag_search",
        json.dumps({"query": "When was the old lighthouse built?"}),
        content_type="application/json",
        headers=people.headers("alice"),
    )


async def test_an_answer_of_a_model_is_cited_and_counted(people: Cast, provider: AnthropicProvider) -> None:
    provider.turns = [Turn(words=("The old lighthouse was built ", "in 1893. <sour", "ce_1>"))]
    result = (await ask(people)).json()
    (context,) = result["contexts"]
    assert result["response"].startswith("The old lighthouse was built in 1893.")
    assert f'<citation id="{context["chunk_id"]}">[1]</citation>' in result["response"]
    assert result["model"] == "claude-haiku-4-5"
    assert (result["usage"]["input_tokens"], result["usage"]["output_tokens"]) == (1000, 100)
    assert TEXT in str(provider.requests[0]["messages"])


@pytest.mark.parametrize(
    ("turn", "status", "code"),
    [
        (Turn(status=529, error="overloaded_error"), 503, "overloaded"),
        (Turn(status=401, error="authentication_error"), 502, "provider_error"),
        (Turn(ends="cut"), 502, "provider_error"),
    ],
)
async def test_a_model_that_fails_is_an_error_with_its_code(
    people: Cast, provider: AnthropicProvider, turn: Turn, status: int, code: str
) -> None:
    provider.turns = [turn] * ATTEMPTS
    response = await ask(people)
    assert response.json()["error"]["code"] == code
    assert response.status_code == status
