"""Executions as objects of the server: what is stored, who ends them, what is kept and for how long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.test import AsyncClient
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.idempotency import KEPT, delete_idempotency_keys
from accounts.ledger.balances import book
from accounts.ledger.base import Order, Payer, Reservation
from accounts.models import IdempotentRequest
from accounts.models.ledger import Purpose
from core import threads
from core.errors import Overloaded
from core.threads import Batcher
from runs import jobs, running
from runs.events import PartialText, ToolEnd, ToolPartialUpdate, ToolUpdate, Trace, Usage, Yielded
from runs.lifecycle import begin, cancel
from runs.models import Execution, ExecutionEvent
from runs.registry import TOOLS
from runs.request import Call
from runs.running import join_partials
from search.events import Phase, RagResult
from tests.conftest import Cast, make_cast
from tests.testing.sockets import Socket, socket

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = {"query": "Who kept the light?"}
Script = Callable[[str], AsyncIterator[Yielded]]


def said(text: str) -> ToolPartialUpdate:
    return ToolPartialUpdate(data=PartialText(content=text))


def start(execution_id: str) -> ToolUpdate:
    return ToolUpdate(data=Phase(execution_id=execution_id, phase="SEARCH_PREPARATION", status="started"))


def end(execution_id: str) -> ToolEnd:
    return ToolEnd(
        data=RagResult(
            response="The keeper.",
            contexts=[],
            sources_used=[],
            model="scripted",
            execution_id=execution_id,
            answered=True,
            outcome="answered",
            citations_removed=0,
            usage=Usage(),
            timings={},
        )
    )


async def answering(execution_id: str) -> AsyncIterator[Yielded]:
    yield start(execution_id)
    yield said("The ")
    yield said("keeper.")
    steps = {"kept": 1}
    yield Trace(usage=Usage(input_tokens=7), cost=0.25, timings={"generation": 0.1}, steps=steps)
    yield end(execution_id)


async def without_database(execution_id: str) -> AsyncIterator[Yielded]:
    yield start(execution_id)
    raise OperationalError("server closed the connection unexpectedly")


async def overloaded(execution_id: str) -> AsyncIterator[Yielded]:
    yield start(execution_id)
    raise Overloaded


async def forgetful(execution_id: str) -> AsyncIterator[Yielded]:
    yield start(execution_id)


async def endless(execution_id: str) -> AsyncIterator[Yielded]:
    yield said("It is known that ")
    await asyncio.sleep(600)


@pytest.fixture
async def people() -> Cast:
    return await sync_to_async(make_cast)()


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[Script], None]:
    """Let `rag_search` do as a script says."""

    def set_script(script: Script) -> None:
        tool = replace(TOOLS["rag_search"], run=lambda _, __, run: script(run.execution_id))
        monkeypatch.setitem(TOOLS, "rag_search", tool)

    set_script(answering)
    return set_script


def tool_socket(people: Cast) -> Socket:
    return socket("/ws/tools/rag_search", [(b"authorization", f"Bearer {people.keys['alice']}".encode())])


async def post(people: Cast, body: Any, path: str = "tools/rag_search", **headers: str) -> Any:
    return await AsyncClient().post(
        f"/api/v1/{path}",
        json.dumps(body),
        content_type="application/json",
        headers=people.headers("alice", **headers),
    )


async def get(people: Cast, path: str) -> Any:
    return await AsyncClient().get(f"/api/v1/{path}", headers=people.headers("alice"))


async def details(people: Cast, execution_id: str) -> dict[str, Any]:
    body: dict[str, Any] = (await get(people, f"executions/{execution_id}")).json()
    return body


class TestOutcome:
    async def test_the_trace_is_kept_and_not_streamed(self, people: Cast, play: Any) -> None:
        reply = await post(people, QUESTION)
        execution = await details(people, reply["X-Execution-Id"])
        assert execution["usage"] == {"input_tokens": 7, "output_tokens": 0}
        assert (execution["cost"], execution["trace"]["steps"]) == (0.25, {"kept": 1})
        events = [e async for e in ExecutionEvent.objects.order_by("seq").values_list("seq", "event")]
        assert [seq for seq, _ in events] == list(range(1, len(events) + 1))
        assert {event for _, event in events} == {"tool_update", "tool_partial_update", "tool_end"}

    @pytest.mark.parametrize(
        ("script", "status", "code"),
        [
            (overloaded, 503, "overloaded"),
            (without_database, 503, "overloaded"),
            (forgetful, 500, "internal"),
        ],
    )
    async def test_a_failure_has_its_status(
        self, people: Cast, play: Any, script: Script, status: int, code: str
    ) -> None:
        play(script)
        reply = await post(people, QUESTION)
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
        assert (await details(people, reply["X-Execution-Id"]))["status"] == "failed"

    async def test_a_cancel_reaches_the_tool(self, people: Cast, play: Any) -> None:
        stopped = asyncio.Event()

        async def watched(execution_id: str) -> AsyncIterator[Yielded]:
            try:
                async for item in endless(execution_id):
                    yield item
            finally:
                stopped.set()

        play(watched)
        begun = (await post(people, {"inputs": QUESTION}, "tools/rag_search/execute")).json()
        while not await ExecutionEvent.objects.aexists():
            await asyncio.sleep(0.01)
        reply = await post(people, {}, f"executions/{begun['execution_id']}/cancel")
        assert reply.json()["result"] == {"response": "It is known that ", "partial": True}
        await asyncio.wait_for(stopped.wait(), 30)


class TestLeases:
    async def abandoned(self, people: Cast) -> str:
        """Return an execution that nobody runs."""
        execution = await sync_to_async(self.begun)(people)
        past = timezone.now() - timedelta(hours=1)
        await Execution.unscoped.filter(pk=execution.pk).aupdate(lease_until=past)
        return execution.pk

    def begun(self, people: Cast) -> Execution:
        return Call.parse(principal_of_user(people.alice), TOOLS["rag_search"], QUESTION).begin()[0]

    async def test_who_reads_ends_it(self, people: Cast) -> None:
        execution = await details(people, await self.abandoned(people))
        assert (execution["status"], execution["error"]["code"]) == ("failed", "internal")

    async def test_who_follows_ends_it(self, people: Cast) -> None:
        address = f"/api/v1/executions/{await self.abandoned(people)}/events"
        response: Any = await AsyncClient().get(address, headers=people.headers("alice"))
        text = b"".join([block async for block in response.streaming_content])
        assert text.count(b"event: error") == 1

    async def test_the_worker_ends_it(self, people: Cast) -> None:
        id = await self.abandoned(people)
        await sync_to_async(jobs.end_abandoned)(0)
        await sync_to_async(jobs.end_abandoned)(0)
        ends = ExecutionEvent.objects.filter(execution_id=id, event="error")
        assert await ends.acount() == 1

    async def test_a_run_that_was_ended_elsewhere_stops(
        self, people: Cast, play: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also where the news of its end was lost."""
        monkeypatch.setattr(running, "renewal_secs", lambda: 0.05)
        stopped = asyncio.Event()

        async def watched(execution_id: str) -> AsyncIterator[Yielded]:
            try:
                await asyncio.sleep(600)
                yield end(execution_id)
            finally:
                stopped.set()

        play(watched)
        begun = (await post(people, {"inputs": QUESTION}, "tools/rag_search/execute")).json()
        await Execution.unscoped.filter(pk=begun["execution_id"]).aupdate(status="cancelled")
        await asyncio.wait_for(stopped.wait(), 30)


class TestRetention:
    async def expired(self, people: Cast) -> str:
        """Return an execution whose events are past their time and gone."""
        id = str((await post(people, QUESTION))["X-Execution-Id"])
        past = timezone.now() - timedelta(days=365)
        await Execution.unscoped.filter(pk=id).aupdate(finished_at=past)
        await sync_to_async(jobs.delete_expired_events)(0)
        return id

    async def test_the_result_stays_and_the_events_are_gone(self, people: Cast, play: Any) -> None:
        id = await self.expired(people)
        execution = await details(people, id)
        assert execution["result"]["response"] == "The keeper."
        gone = await get(people, f"executions/{id}/events?after=1")
        assert (gone.status_code, gone.json()["error"]["code"]) == (410, "events_expired")
        last = await Execution.unscoped.values_list("last_seq", flat=True).aget(pk=id)
        assert (await get(people, f"executions/{id}/events?after={last}")).status_code == 204

    async def test_a_resume_says_so(self, people: Cast, play: Any) -> None:
        id = await self.expired(people)
        opened = socket(
            "/ws/tools/rag_search", [(b"authorization", f"Bearer {people.keys['alice']}".encode())]
        )
        await opened.connect(timeout=20)
        await opened.send_json_to({"type": "resume", "execution_id": id, "after": 0})
        answer = await opened.receive_json_from(timeout=20)
        assert (answer["event"], answer["data"]["code"]) == ("error", "events_expired")
        await opened.disconnect()

    async def test_young_events_are_kept(self, people: Cast, play: Any) -> None:
        await post(people, QUESTION)
        await sync_to_async(jobs.delete_expired_events)(0)
        assert await ExecutionEvent.objects.aexists()


class TestIdempotencyKey:
    @pytest.mark.parametrize("path", ["tools/rag_search", "tools/rag_search/execute"])
    async def test_the_same_request_gets_the_same_reply(self, people: Cast, play: Any, path: str) -> None:
        body = QUESTION if path.endswith("search") else {"inputs": QUESTION}
        replies = [await post(people, body, path, **{"Idempotency-Key": "k"}) for _ in range(2)]
        assert replies[0].json() == replies[1].json()
        assert replies[0]["X-Execution-Id"] == replies[1]["X-Execution-Id"]
        assert await Execution.unscoped.acount() == 1

    async def test_two_at_once_are_carried_out_once(self, people: Cast, play: Any) -> None:
        asked = [post(people, QUESTION, **{"Idempotency-Key": "k"}) for _ in range(5)]
        assert len({reply["X-Execution-Id"] for reply in await asyncio.gather(*asked)}) == 1

    async def test_another_body_is_a_conflict(self, people: Cast, play: Any) -> None:
        await post(people, QUESTION, **{"Idempotency-Key": "k"})
        reply = await post(people, {"query": "What else?"}, **{"Idempotency-Key": "k"})
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "idempotency_conflict")

    async def test_it_is_private_to_the_external_user(self, people: Cast, play: Any) -> None:
        for user in ("x", "y"):
            headers = {"Idempotency-Key": "k", "X-External-User-Id": user}
            assert (await post(people, QUESTION, **headers)).status_code == 200
        assert await Execution.unscoped.acount() == 2

    @pytest.mark.parametrize("key", ["k" * 256, " "])
    async def test_an_unusable_key_is_refused(self, people: Cast, play: Any, key: str) -> None:
        error = (await post(people, QUESTION, **{"Idempotency-Key": key})).json()["error"]
        assert (error["code"], error["param"]) == ("validation_error", "Idempotency-Key")

    async def test_a_refused_request_leaves_the_key_unused(self, people: Cast, play: Any) -> None:
        assert (await post(people, {}, **{"Idempotency-Key": "k"})).status_code == 400
        assert (await post(people, QUESTION, **{"Idempotency-Key": "k"})).status_code == 200

    async def test_a_day_later_it_is_new(self, people: Cast, play: Any) -> None:
        await post(people, QUESTION, **{"Idempotency-Key": "k"})
        await IdempotentRequest.objects.aupdate(created_at=timezone.now() - KEPT - timedelta(minutes=1))
        assert (await post(people, {"query": "What else?"}, **{"Idempotency-Key": "k"})).status_code == 200
        await sync_to_async(delete_idempotency_keys)(0)
        assert await IdempotentRequest.objects.acount() == 1


class TestWebsocket:
    @pytest.fixture
    async def opened(self, people: Cast, play: Any) -> AsyncIterator[Any]:
        made = tool_socket(people)
        await made.connect(timeout=20)
        yield made
        await made.disconnect()

    @pytest.mark.parametrize(
        ("message", "code"),
        [
            ({"type": "resume", "execution_id": "call_x", "aftr": 3}, "unknown_field"),
            ({"type": "resume", "execution_id": "call_x", "after": True}, "validation_error"),
            ({"type": "resume", "execution_id": "call_x", "after": 2**40}, "validation_error"),
            ({"type": "resume", "execution_id": 7}, "validation_error"),
            ({"type": ["run"]}, "validation_error"),
        ],
    )
    async def test_a_bad_message(self, opened: Any, message: Any, code: str) -> None:
        await opened.send_json_to(message)
        answer = await opened.receive_json_from(timeout=20)
        assert (answer["event"], answer["data"]["code"], "execution_id" in answer) == ("error", code, False)

    async def test_the_fields_every_tool_accepts(self, opened: Any, people: Cast) -> None:
        inputs = QUESTION | {"external_user_id": "x", "workspace_id": str(people.team.pk)}
        await opened.send_json_to({"type": "run", "inputs": inputs})
        await opened.receive_json_from(timeout=20)
        execution = await Execution.unscoped.aget()
        assert (execution.external_user_id, execution.workspace_id) == ("x", people.team.pk)


async def test_one_run_at_a_time_on_a_socket(people: Cast, play: Any) -> None:
    play(endless)
    opened = tool_socket(people)
    await opened.connect(timeout=20)
    await opened.send_json_to(QUESTION)
    assert (await opened.receive_json_from(timeout=20))["event"] == "tool_partial_update"
    await opened.send_json_to(QUESTION)
    busy = await opened.receive_json_from(timeout=20)
    assert (busy["data"]["code"], "execution_id" in busy) == ("busy", False)
    await opened.send_json_to({"type": "cancel"})
    assert (await opened.receive_json_from(timeout=20))["data"]["code"] == "cancelled"
    await opened.send_json_to(QUESTION)
    assert (await opened.receive_json_from(timeout=20))["event"] == "tool_partial_update"
    await opened.disconnect()


@pytest.mark.parametrize(
    ("query", "tools"),
    [
        ("", ["web_fetch", "web_search", "rag_search"]),
        ("?tool=web_search", ["web_search"]),
        ("?tool=rag_search&tool=web_search", ["web_search", "rag_search"]),
        ("?tool=rag_search&tool=web_search&limit=1", ["web_search", "rag_search"]),
    ],
)
async def test_a_list_is_narrowed_to_the_tools_that_are_named(
    people: Cast, query: str, tools: list[str]
) -> None:
    for name, body in [
        ("rag_search", QUESTION),
        ("web_search", QUESTION),
        ("web_fetch", {"url": "https://light.example/"}),
    ]:
        principal = await sync_to_async(principal_of_user)(people.alice)
        inputs = await sync_to_async(TOOLS[name].parse)(principal, body)
        await sync_to_async(begin)(principal, replace(TOOLS[name], admit=_admit), inputs, None)
    path, found = f"executions{query}", []
    while path:
        listed = (await get(people, path)).json()
        found += [execution["tool"] for execution in listed["results"]]
        path = (listed["next"] or "").partition("/api/v1/")[2]
    assert found == tools
    assert (await get(people, "executions?tool=rag_search&tool=none")).status_code == 404


def _admit(*request: Any) -> None:
    """Let everybody in, also where the web is switched off."""


def test_pieces_are_joined_up_to_the_limit_and_never_cut() -> None:
    pieces = ["a" * 200, "<source_12>", "é" * 8, "b" * 200, "c" * 300]
    texts = [
        item.data.content
        for item in join_partials([*map(said, pieces), start("x"), said("d")])
        if isinstance(item, ToolPartialUpdate)
    ]
    assert texts == ["a" * 200 + "<source_12>", "é" * 8 + "b" * 200, "c" * 300, "d"]


async def test_gathered_calls_fail_alone() -> None:
    calls: list[int] = []

    def halve(numbers: Any) -> list[float]:
        calls.append(len(numbers))
        return [1 / number for number in numbers]

    gathered = Batcher(halve)
    results = await asyncio.gather(*map(gathered, [1, 0, 2, 4]), return_exceptions=True)
    assert results[0::2] == [1, 0.5]
    assert isinstance(results[1], ZeroDivisionError)
    assert results[3] == 0.25


async def test_a_connection_that_can_not_be_closed_stops_no_later_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The thread ended by it, and whoever called after that waited forever."""

    def broken() -> None:
        raise OSError("the server is gone")

    monkeypatch.setattr(threads, "close_old_connections", broken)

    def halve(numbers: Any) -> list[float]:
        return [number / 2 for number in numbers]

    gathered = Batcher(halve)
    async with asyncio.timeout(30):
        assert [await gathered(number) for number in (1, 2, 3)] == [0.5, 1.0, 1.5]


class TestDeletion:
    async def test_it_goes_with_its_events_and_its_key_can_be_used_anew(
        self, people: Cast, play: Any
    ) -> None:
        """There was no way to delete an execution."""
        key = {"Idempotency-Key": "1"}
        id = (await post(people, QUESTION, **key))["X-Execution-Id"]
        events = await ExecutionEvent.objects.acount()
        address = f"/api/v1/executions/{id}"
        for name, status in (("bob", 404), ("alice", 200), ("alice", 404)):
            reply: Any = await AsyncClient().delete(address, headers=people.headers(name))
            assert reply.status_code == status
            if status == 200:
                assert reply.json() == {"deleted": {"executions": 1, "events": events}}
        assert not await ExecutionEvent.objects.aexists()
        assert (await post(people, QUESTION, **key))["X-Execution-Id"] != id

    async def test_a_running_one_is_cancelled_first_and_who_follows_hears_it(
        self, people: Cast, play: Any
    ) -> None:
        play(endless)
        stream = await post(people, {**QUESTION, "stream": True})
        blocks = aiter(stream.streaming_content)
        assert b"tool_partial_update" in await anext(blocks)
        _, reading = await asyncio.to_thread(create_key, people.alice, "reading", scopes=["read"])
        reply: Any = await AsyncClient().delete(
            f"/api/v1/executions/{stream['X-Execution-Id']}", headers={"Authorization": f"Bearer {reading}"}
        )
        assert (reply.status_code, reply.json()["deleted"]["events"]) == (200, 2)
        async with asyncio.timeout(30):
            heard = b"".join([block async for block in blocks])
        assert heard.count(b"event: error") == 1
        assert b'"code":"cancelled"' in heard

    async def test_one_that_was_cancelled_tells_what_it_has_cost(self, people: Cast) -> None:
        """It said null, although its search was paid and stood in the ledger."""

        def cancelled() -> Execution:
            principal = principal_of_user(people.alice)
            execution = Call.parse(principal, TOOLS["rag_search"], QUESTION).begin()[0]
            payer = Payer(execution.workspace_id, None, execution.pk)
            order = Order(payer, Purpose.SEARCH, "brave", Decimal("0.005"))
            book(Reservation(order), Decimal("0.005"), is_spent=True)
            return cancel(execution)

        execution = await sync_to_async(cancelled)()
        told = await details(people, execution.pk)
        assert (told["status"], told["cost"]) == ("cancelled", 0.005)
