"""A crowd that asks the agent: calls and models fail, clients leave or cancel, and a web server dies.

Each run ends once, and the ledger has what the provider has billed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.db.models import Sum
from httpx_sse import aconnect_sse

from accounts.models.ledger import Balance, Charge
from core.llm.prices import price_of
from runs.models import Execution, ExecutionEvent, ExecutionStatus
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.chat_models import USAGE, OpenAiProvider, Turn
from tests.testing.live import LiveServer, live_server, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
MODEL = "gpt-5-nano"
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
NUMBER = re.compile(r"question (\d+)")
TERMINAL = ("tool_end", "error")
FAILS_EVERY = 7
"""Each seventh request to the model is refused, and served when it is made again: no run fails by chance."""


def is_doomed(number: int) -> bool:
    """Whether a run is on the server that is killed."""
    return number % 8 == 1


def is_cut(number: int) -> bool:
    """Whether the client leaves after the first event."""
    return number % 4 == 0


def is_cancelled(number: int) -> bool:
    """Whether the client cancels after the first event."""
    return number % 4 == 2


@dataclass
class BillingModel(OpenAiProvider):
    """Asks for calls that fail and one that finds something, then writes; bills each answer to a question."""

    billed: Counter[int] = field(default_factory=Counter)
    refused: Counter[int] = field(default_factory=Counter)
    _again: set[int] = field(default_factory=set)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def handler(self) -> Any:
        """Return what remembers the body of its own request: many are served at once."""
        made: Any = super().handler()

        class Remembering(made):
            def sent_json(self) -> Any:
                self.body = super().sent_json()
                return self.body

        return Remembering

    def _serve(self, handler: Any, turn: Turn, *, streams: bool) -> None:
        found = NUMBER.search(json.dumps(handler.body))
        assert found is not None
        question = int(found[1])
        if next(self._numbers) % FAILS_EVERY == 0 and question not in self._again:
            self.refused[question] += 1
            self._again.add(question)
            turn = Turn(status=503, error="server_error")
        else:
            self.billed[question] += 1
            self._again.discard(question)
            turn = self._turn(question, handler.body, streams=streams)
        super()._serve(handler, turn, streams=streams)

    def _turn(self, question: int, body: dict[str, Any], *, streams: bool) -> Turn:
        if streams:
            # The doomed are still writing when their server dies.
            words = ("The farm produced 42 gigawatt hours. ", "<source_1>")
            return Turn(words=words, ends="silent" if is_doomed(question) else "well")
        if any(message["role"] == "tool" for message in body["messages"]):
            return Turn(words=("DONE",))
        wanted = (
            ("read_document", {"document_id": "no id"}),
            ("shell", {"command": "ls"}),
            ("rag_search", {"query": "solar farm"}),
        )
        return Turn(calls=wanted)


@dataclass
class Crowd:
    """Clients of two servers, of which one dies."""

    cast: Cast
    survivor: LiveServer
    doomed: LiveServer
    size: int
    ids: dict[int, str] = field(default_factory=dict)
    hanging: set[int] = field(default_factory=set)
    all_hang: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self) -> None:
        """Ask all questions, kill the server once all its runs are writing, and wait for every end."""
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(headers=self.cast.headers("alice"), timeout=120, limits=limits) as http:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._kill())
                for number in range(self.size):
                    tasks.create_task(self._one(http, number))
            for id in self.ids.values():
                await self._end(http, id)

    async def _kill(self) -> None:
        await self.all_hang.wait()
        self.doomed.process.kill()
        await asyncio.to_thread(self.doomed.process.wait)

    async def _one(self, http: httpx.AsyncClient, number: int) -> None:
        web = self.doomed if is_doomed(number) else self.survivor
        asked = {
            "query": f"What did the solar farm produce, question {number}?",
            "documents": {},
            "workspace_id": str(self.cast.team.pk),
            "stream": True,
        }
        try:
            async with aconnect_sse(http, "POST", f"{web.url}/api/v1/tools/agent", json=asked) as source:
                self.ids[number] = source.response.headers["X-Execution-Id"]
                async for event in source.aiter_sse():
                    if is_doomed(number) and event.event == "tool_partial_update":
                        self._hangs(number)
                    if is_cut(number) or is_cancelled(number):
                        break
        except httpx.TransportError:
            # Of the server that was killed.
            assert is_doomed(number)
        if is_cancelled(number):
            path = f"{web.url}/api/v1/executions/{self.ids[number]}/cancel"
            assert (await http.post(path)).status_code == 200

    def reserved(self) -> set[str]:
        """Return the runs with a charge that is still an estimate."""
        open_charges = Charge.unscoped.filter(execution_id__in=self.ids.values(), settled_at=None)
        return set(open_charges.values_list("execution_id", flat=True))

    def doomed_ids(self) -> set[str]:
        """Return the runs of the server that is killed."""
        return {id for number, id in self.ids.items() if is_doomed(number)}

    def _hangs(self, number: int) -> None:
        # What a run has written before it hangs may come in several events.
        self.hanging.add(number)
        if len(self.hanging) == sum(map(is_doomed, range(self.size))):
            self.all_hang.set()

    async def _end(self, http: httpx.AsyncClient, id: str) -> None:
        """Follow a run over the server that is left, until it has ended."""
        path = f"{self.survivor.url}/api/v1/executions/{id}/events"
        async with aconnect_sse(http, "GET", path) as source:
            ends = [event.event async for event in source.aiter_sse() if event.event in TERMINAL]
        assert len(ends) == 1


@pytest.mark.parametrize("size", [24, pytest.param(200, marks=pytest.mark.slow("storms"))])
def test_each_run_ends_once_and_is_billed_once(size: int) -> None:
    cast = make_cast()
    indexed_document(cast.team, SOLAR, name="solar.pdf")
    with BillingModel() as model:
        environment = {
            "GENERATION_PROVIDER": "openai",
            "GENERATION_MODEL": MODEL,
            "GENERATION_API_KEY": "key",
            "GENERATION_BASE_URL": model.url,
            "MAX_RUNS_PER_USER": str(size),
            "MAX_STREAMS_PER_USER": str(2 * size),
            "RUNS_PER_MINUTE": "0",
            "REQUESTS_PER_MINUTE": "0",
            # A busy server may renew its leases late.
            "RUN_LEASE_SECS": "10",
        }
        with live_server(**environment) as survivor, live_server(**environment) as doomed:
            crowd = Crowd(cast, survivor, doomed, size)
            asyncio.run(crowd.ask())
            # Whoever cancels is answered before the server has broken off its request to the model.
            wait_until(lambda: crowd.reserved() <= crowd.doomed_ids(), "what was cancelled is settled")
    assert model.refused
    each_has_ended_once(crowd)
    the_ledger_has_the_bills(crowd, model)


def each_has_ended_once(crowd: Crowd) -> None:
    """Compare terminal events and statuses of all runs."""
    assert len(crowd.ids) == crowd.size
    ids = list(crowd.ids.values())
    ends = ExecutionEvent.objects.filter(execution__in=ids, event__in=TERMINAL)
    assert Counter(ends.values_list("execution_id", flat=True)) == dict.fromkeys(ids, 1)
    statuses = dict(Execution.unscoped.filter(pk__in=ids).values_list("pk", "status"))
    for number, id in crowd.ids.items():
        if is_doomed(number):
            assert statuses[id] == ExecutionStatus.FAILED
        elif not is_cancelled(number):
            # Whose client has left went on.
            assert statuses[id] == ExecutionStatus.COMPLETED, number


def the_ledger_has_the_bills(crowd: Crowd, model: BillingModel) -> None:
    """Compare costs: exact ones of completed runs, at least the bill of those that were broken off."""
    price = price_of("openai", MODEL, USAGE["prompt_tokens"], USAGE["completion_tokens"])
    assert price > 0
    charges = Charge.unscoped.filter(execution_id__in=crowd.ids.values())
    paid = dict(charges.values_list("execution_id").annotate(Sum("amount")))
    for number, id in crowd.ids.items():
        billed = price * model.billed[number]
        if is_doomed(number) or is_cancelled(number):
            # What a request that was broken off has cost is unknown: its estimate counts.
            assert paid.get(id, Decimal(0)) >= billed, number
        else:
            assert paid[id] == billed, number
    assert Balance.unscoped.get(workspace=crowd.cast.team).total == sum(paid.values())
