"""Many runs of the agent at once, whose tools fail: each ends once, and the ledger equals the bills."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db.models import Sum
from django.test import AsyncClient
from pytest_django import Settings

from accounts.models.ledger import Charge
from runs.models import Execution, ExecutionEvent, ExecutionStatus
from tests.assistants.agent.asking import SOLAR, make_assistant
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.chat_models import OpenAiProvider, Turn
from tests.testing.search_engines import ProviderDouble

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 10


class Wavering(OpenAiProvider):
    """A chat model that first asks for calls, some of which must fail, and then writes."""

    def _serve(self, handler: Any, turn: Turn, *, streams: bool) -> None:
        asked = self.requests[-1]
        if not streams and not any(message["role"] == "tool" for message in asked["messages"]):
            turn = Turn(
                calls=(
                    ("web_search", {"query": f"solar farm {len(self.requests)}"}),
                    ("read_document", {"document_id": "no id"}),
                    ("rag_search", {"query": "solar farm"}),
                )
            )
        super()._serve(handler, turn if not streams else Turn(), streams=streams)


async def crowd(people: Cast, size: int, assistant: str) -> list[str]:
    """Ask `size` times, some at once; cancel every fifth; return the ids of the executions."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> str:
        async with turns:
            client, headers = AsyncClient(), people.headers("alice")
            inputs = {"query": f"What did the solar farm produce, {number}?", "assistant_id": assistant}
            body = json.dumps({"inputs": inputs, "workspace_id": str(people.team.pk)})
            path = "/api/v1/tools/agent/execute"
            reply = await client.post(path, body, content_type="application/json", headers=headers)
            assert reply.status_code == 202, reply.content
            id: str = reply.json()["execution_id"]
            if number % 5 == 0:
                await client.post(f"/api/v1/executions/{id}/cancel", headers=headers)
            while (await Execution.unscoped.aget(pk=id)).finished_at is None:
                await asyncio.sleep(0.05)
            return id

    return list(await asyncio.gather(*map(one, range(size))))


@pytest.mark.parametrize("size", [50, pytest.param(200, marks=pytest.mark.slow("storms"))])
async def test_each_run_ends_once(people: Cast, brave: ProviderDouble, settings: Settings, size: int) -> None:
    settings.MAX_RUNS_PER_USER, settings.RUN_RATE = size, "100000/m"
    settings.WEB_PRICES = ["brave=1000"]
    await sync_to_async(indexed_document)(people.team, SOLAR)
    assistant = await make_assistant(people, tools=["rag_search", "read_document", "web_search"])
    with Wavering() as model:
        settings.GENERATION_PROVIDER, settings.GENERATION_MODEL = "openai-compatible", "llama3.2:3b"
        settings.GENERATION_BASE_URL = model.url
        ids = await crowd(people, size, str(assistant.pk))
    ends = ExecutionEvent.objects.filter(execution__in=ids, event__in=("tool_end", "error"))
    counted = Counter([id async for id in ends.values_list("execution_id", flat=True)])
    assert counted == dict.fromkeys(ids, 1)
    failed = ExecutionEvent.objects.filter(execution__in=ids, data__output_key="failure")
    assert await failed.acount() >= size // 2
    completed = Execution.unscoped.filter(pk__in=ids, status=ExecutionStatus.COMPLETED)
    assert await completed.acount() >= size * 3 // 5
    charges = Charge.unscoped.filter(execution_id__in=ids)
    # Nothing stays reserved, and nobody has paid for more than was asked.
    assert not await charges.filter(settled_at=None).aexists()
    paid = (await charges.aaggregate(sum=Sum("amount")))["sum"] or 0
    assert paid <= len(brave.requests) + size // 5
