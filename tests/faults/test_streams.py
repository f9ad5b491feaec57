"""Streams that are cut and web servers that die: nothing is lost or comes twice, everything ends once."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from httpx_sse import connect_sse
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from runs.models import Execution, ExecutionEvent
from tests.conftest import Cast, make_cast
from tests.testing.live import answers, free_port, start_web, stop, wait_until
from tests.testing.streams import storm

pytestmark = pytest.mark.django_db(transaction=True)
STREAMS = 40
SCRIPTED = "tests.testing.scripted:application"
QUESTION = {"query": "Who kept the light?", "stream": True}
OFTEN = {"SSE_PING_SECS": "0.5"}
# On a busy machine, a server that serves forty streams may renew its leases late.
LEASE = {"RUN_LEASE_SECS": "5"}
SHORT_LEASE = {"RUN_LEASE_SECS": "2"}


class Web:
    """A web server with the scripted tool."""

    def __init__(self, **environment: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] = start_web(port, SCRIPTED, **environment)

    def wait(self) -> Web:
        wait_until(lambda: answers(f"{self.url}/health"), "the web server starts")
        return self


@pytest.fixture(scope="module")
def webs(django_db_setup: None) -> Iterator[list[Web]]:
    """Two web servers on one database, whose answers take as long as a test may want."""
    started = [Web(SCRIPT_PACE_SECS="0.05", **OFTEN, **LEASE) for _ in range(2)]
    yield [web.wait() for web in started]
    for web in started:
        stop(web.process)


@pytest.fixture
def mortal(webs: list[Web]) -> Iterator[Web]:
    """A web server that a test may kill; its answers take for ever."""
    web = Web(SCRIPT_PACE_SECS="1", SCRIPT_PIECES="600", **OFTEN, **SHORT_LEASE).wait()
    yield web
    stop(web.process)


def client_of(web: Web, cast: Cast) -> httpx.Client:
    return httpx.Client(base_url=f"{web.url}/api/v1/", headers=cast.headers("alice"), timeout=60)


def begin(web: Web, cast: Cast) -> tuple[str, list[int]]:
    """Ask, and leave after the first text; return the execution and the numbers that were seen."""
    seen = []
    with (
        client_of(web, cast) as http,
        connect_sse(http, "POST", "tools/rag_search", json=QUESTION) as source,
    ):
        for event in source.iter_sse():
            seen.append(int(event.id))
            if event.event == "tool_partial_update":
                break
        return source.response.headers["X-Execution-Id"], seen


def rest(web: Web, cast: Cast, execution_id: str, after: int) -> list[tuple[int, dict[str, Any]]]:
    """Resume, and read to the end."""
    headers = {"Last-Event-ID": str(after)}
    path = f"executions/{execution_id}/events"
    with client_of(web, cast) as http, connect_sse(http, "GET", path, headers=headers) as source:
        # httpx-sse takes the blank line after a ping for an event without data.
        return [(int(event.id), json.loads(event.data)) for event in source.iter_sse() if event.data]


async def test_streams_cut_at_random_lose_and_repeat_nothing(webs: list[Web]) -> None:
    """Over two servers: a client that comes back may reach the other one."""
    cast = await sync_to_async(make_cast)()
    seen = await storm([web.url for web in webs], cast.keys["alice"], STREAMS, within_secs=1)
    assert (seen.missing, seen.repeated, seen.ends) == (0, 0, {"tool_end": STREAMS})


def test_another_server_takes_a_stream_up(webs: list[Web]) -> None:
    cast = make_cast()
    execution_id, seen = begin(webs[0], cast)
    events = rest(webs[1], cast, execution_id, seen[-1])
    assert [seq for seq, _ in events] == list(range(seen[-1] + 1, events[-1][0] + 1))
    assert events[-1][1]["event"] == "tool_end"


def test_what_a_killed_server_was_doing_ends_once(webs: list[Web], mortal: Web) -> None:
    cast = make_cast()
    execution_id, seen = begin(mortal, cast)
    mortal.process.kill()
    mortal.process.wait()
    events = rest(webs[0], cast, execution_id, seen[-1])
    kinds = [message["event"] for _, message in events]
    assert (kinds[-1], kinds.count("error"), kinds.count("tool_end")) == ("error", 1, 0)
    assert events[-1][1]["data"]["code"] == "internal"
    assert Execution.unscoped.get(pk=execution_id).status == "failed"


def test_another_server_can_cancel(webs: list[Web], mortal: Web) -> None:
    cast = make_cast()
    execution_id, _ = begin(mortal, cast)
    with client_of(webs[0], cast) as http:
        replies = [http.post(f"executions/{execution_id}/cancel") for _ in range(2)]
    assert {(reply.status_code, reply.json()["status"]) for reply in replies} == {(200, "cancelled")}
    result = replies[-1].json()["result"]
    assert (result["partial"], bool(result["response"])) == (True, True)
    [*_, (_, last)] = rest(mortal, cast, execution_id, 0)
    assert (last["event"], last["data"]["code"]) == ("error", "cancelled")


async def test_a_run_goes_on_when_its_client_leaves(webs: list[Web]) -> None:
    cast = await sync_to_async(make_cast)()
    execution_id, _ = await asyncio.to_thread(begin, webs[0], cast)
    while not await Execution.unscoped.filter(pk=execution_id, finished_at__isnull=False).aexists():
        await asyncio.sleep(0.1)
    assert (await Execution.unscoped.aget(pk=execution_id)).status == "completed"


# --- A server that is told to stop -------------------------------------------------------------------------

FOR_EVER = {"SCRIPT_PACE_SECS": "1", "SCRIPT_PIECES": "600", "RUN_LEASE_SECS": "600"}


def test_a_server_that_stops_tells_everybody_who_listens() -> None:
    """Long before its leases expire, and to those who listen over the connection they have."""
    cast, web = make_cast(), Web(**FOR_EVER).wait()
    heard: dict[str, dict[str, Any]] = {}
    try:
        over = {"sse": hear_sse, "json": hear_json, "websocket": hear_socket}
        with ThreadPoolExecutor() as pool:
            listening = {name: pool.submit(hear, web, cast) for name, hear in over.items()}
            writing = ExecutionEvent.objects.filter(event="tool_partial_update").values("execution_id")
            wait_until(lambda: writing.distinct().count() == len(over), "all three are being answered")
            web.process.send_signal(signal.SIGTERM)
            heard = {name: told.result(60) for name, told in listening.items()}
    finally:
        stop(web.process)
    words = "The server is stopping. Ask again in a moment."
    assert list(heard.values()) == [{"code": "overloaded", "message": words}] * len(over)
    ended = Execution.unscoped.values_list("status", "error__code")
    assert list(ended) == [("failed", "overloaded")] * len(over)
    last = ExecutionEvent.objects.filter(event__in=["error", "tool_end"])
    assert last.count() == len(over)


def hear_sse(web: Web, cast: Cast) -> dict[str, Any]:
    with (
        client_of(web, cast) as http,
        connect_sse(http, "POST", "tools/rag_search", json=QUESTION) as source,
    ):
        [*_, last] = source.iter_sse()
    return dict(last.json()["data"])


def hear_json(web: Web, cast: Cast) -> dict[str, Any]:
    with client_of(web, cast) as http:
        reply = http.post("tools/rag_search", json=QUESTION | {"stream": False})
    assert reply.status_code == 503
    return dict(reply.json()["error"])


def hear_socket(web: Web, cast: Cast) -> dict[str, Any]:
    address = f"{web.url.replace('http', 'ws', 1)}/ws/tools/rag_search"
    with connect(address, additional_headers=cast.headers("alice")) as socket:
        socket.send(json.dumps({"query": QUESTION["query"]}))
        try:
            while (message := json.loads(socket.recv(timeout=60)))["event"] != "error":
                pass
        except ConnectionClosed:
            # The server was faster to close its sockets; who comes back to another one reads this.
            error = ExecutionEvent.objects.get(execution_id=message["execution_id"], event="error")
            message = {"data": error.data}
    return dict(message["data"])


def refuses_connections(web: Web) -> bool:
    try:
        httpx.get(f"{web.url}/healthz")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:  # closed while it was asked
        return False
    return False


def test_a_server_that_drains_takes_nothing_new_and_goes_on(webs: list[Web]) -> None:
    """Until its last run has ended, and not a moment longer."""
    cast, web = make_cast(), Web(DRAIN_SECS="3600", **FOR_EVER).wait()
    try:
        execution_id, _ = begin(web, cast)
        web.process.send_signal(signal.SIGTERM)
        wait_until(lambda: refuses_connections(web), "the port is closed")
        assert web.process.poll() is None
        assert Execution.unscoped.get(pk=execution_id).status == "running"
        with client_of(webs[0], cast) as http:
            assert http.post(f"executions/{execution_id}/cancel").json()["status"] == "cancelled"
        web.process.wait(60)
    finally:
        stop(web.process)


def test_a_stream_ends_well_on_a_server_that_drains() -> None:
    cast, web = make_cast(), Web(DRAIN_SECS="3600", SCRIPT_PACE_SECS="0.2", SCRIPT_PIECES="10").wait()
    try:
        with ThreadPoolExecutor(1) as pool, client_of(web, cast) as http:
            ending = pool.submit(last_event, http)
            wait_until(lambda: ExecutionEvent.objects.exists(), "the stream has begun")
            web.process.send_signal(signal.SIGTERM)
            assert ending.result(60) == "tool_end"
    finally:
        stop(web.process)


def last_event(http: httpx.Client) -> str:
    with connect_sse(http, "POST", "tools/rag_search", json=QUESTION) as source:
        [*_, last] = [event for event in source.iter_sse() if event.data]
    return last.event


def test_a_server_does_not_drain_for_ever() -> None:
    cast, web = make_cast(), Web(DRAIN_SECS="0.5", **FOR_EVER).wait()
    try:
        execution_id, _ = begin(web, cast)
        web.process.send_signal(signal.SIGTERM)
        web.process.wait(60)
    finally:
        stop(web.process)
    error = Execution.unscoped.get(pk=execution_id).error
    assert error and error["code"] == "overloaded"
