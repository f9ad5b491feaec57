"""The Python client of `clients/python` against a running web server, its README, and its types."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import generate
import httpx
import pytest
from locus_client import AsyncClient, Client, ConnectionLost, LocusError
from locus_client.events import EventReader

from kb.models import Document
from locus.schema import built_schema
from tests.conformance.gateway import QUESTION, SOLAR, Gateway
from tests.conformance.streaming import Server
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.live import live_worker
from tests.testing.paths import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
CLIENT = ROOT / "clients/python"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (CLIENT / "README.md").read_text("utf-8"), re.M | re.S)
PREFACE = "import os\nLOCUS, KEY = os.environ['LOCUS'], os.environ['KEY']\n"
SAID = "42 gigawatt hours in 2023. <citation"
EXPECTED = [SAID, "ready\nThe bridge was built in 1893.", SAID, SAID, "validation_error query 400"]


@pytest.fixture
def client(gateway: Gateway) -> Iterator[Client]:
    with Client(gateway.url, gateway.key) as client:
        yield client


def test_the_types_agree_with_the_schema() -> None:
    """If this fails: `python clients/python/generate.py`."""
    assert generate.TARGET.read_text("utf-8") == generate.written_models(built_schema())


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_examples_run(gateway: Gateway, number: int) -> None:
    with live_worker():
        ran = subprocess.run(
            [sys.executable, "-c", PREFACE + EXAMPLES[number]],
            env=os.environ | {"LOCUS": gateway.url, "KEY": gateway.key, "PYTHONPATH": str(CLIENT / "src")},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert ran.returncode == 0, ran.stderr
    assert EXPECTED[number] in ran.stdout


# --- Calls -------------------------------------------------------------------------------------------------


def test_documents(client: Client, cast: Cast, document: Document) -> None:
    assert client.me().email == "alice@example.org"
    for number in range(3):
        stored_document(cast.team, f"{number}.txt", b"x")
    assert [each.name for each in client.documents(limit=2, ordering="name")] == [
        "0.txt",
        "1.txt",
        "2.txt",
        "solar.pdf",
    ]
    made = client.make_collection("Energy", str(cast.team.pk))
    assert [each.name for each in client.collections()] == ["Energy"]
    place = {"collection_id": str(made.id), "workspace_id": str(cast.team.pk)}
    added = client.add_text("The bridge was built.", "bridge.txt", **place)
    assert (added.name, added.status, added.duplicate) == ("bridge.txt", "queued", False)
    assert client.file(added.id) == b"The bridge was built."
    assert client.change_document(added.id, tags=["a"]).tags == ["a"]
    assert client.delete_document(added.id).deleted.documents == 1
    with pytest.raises(LocusError) as refused:
        client.document(added.id)
    assert (refused.value.code, refused.value.status) == ("not_found", 404)
    assert refused.value.request_id


def test_an_external_user_has_documents_of_its_own(gateway: Gateway, document: Document) -> None:
    with Client(gateway.url, gateway.key, external_user_id="Zoë") as client:
        assert list(client.documents()) == []
        assert client.add_text("Hers.").external_user_id == "Zoë"


def test_questions(client: Client, document: Document) -> None:
    hit = client.search(QUESTION, limit=1).results[0]
    assert (hit.document_id, hit.page_number) == (document.pk, 1)
    assert client.chunk(hit.chunk_id).text == hit.text
    answer = client.rag_search(QUESTION)
    quotes = answer.contexts[0].quotes
    assert answer.answered and quotes and quotes[0].text in SOLAR
    run = client.execution(answer.execution_id)
    assert (run.status, run.tool) == ("completed", "rag_search")
    assert client.cancel(answer.execution_id).status == "completed"


async def test_the_same_awaited(gateway: Gateway, document: Document) -> None:
    async with AsyncClient(gateway.url, gateway.key) as client:
        assert (await client.me()).email == "alice@example.org"
        assert [each.name async for each in client.documents()] == ["solar.pdf"]
        answer = await client.rag_search(QUESTION)
        last = [event async for event in client.stream("rag_search", query=QUESTION)][-1]
        assert last.data["response"] == answer.response
        with pytest.raises(LocusError, match="not_found"):
            await client.document("x/../y")


# --- Streams -----------------------------------------------------------------------------------------------


def test_a_stream_has_the_events_of_the_run(gateway: Gateway, client: Client, cast: Cast) -> None:
    events = list(client.stream("rag_search", query=QUESTION))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].is_last
    id = events[0].data["execution_id"]
    assert list(client.events(id)) == events
    assert list(client.events(id, after=events[-3].seq)) == events[-2:]
    assert list(client.events(id, after=events[-1].seq)) == []
    server = Server(gateway.url, cast)
    with server.http:
        _, sliced = server.sse("GET", f"executions/{id}/events?sse_max_bytes=512")
    assert [(each.seq, {"event": each.name, "data": each.data}) for each in events] == sliced


def test_slices_are_joined(gateway: Gateway, client: Client) -> None:
    whole = list(client.stream("rag_search", query=QUESTION))
    id = whole[0].data["execution_id"]
    with gateway.http() as http:
        text = http.get(f"/api/v1/executions/{id}/events?sse_max_bytes=512").text
    assert "_delta_sse" in text
    reader = EventReader()
    assert [event for line in text.splitlines() if (event := reader.feed(line))] == whole


def test_a_run_that_fails_raises_its_error(client: Client) -> None:
    with pytest.raises(LocusError) as refused:
        list(client.stream("rag_search", query=QUESTION, document_ids=["x"]))
    assert (refused.value.code, refused.value.param) == ("validation_error", "document_ids[0]")


class Cutting(BaseHTTPRequestHandler):
    """Sends each event once and cuts the connection after it; `after` are the events that were asked for."""

    events: list[str]
    after: list[int]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send_one(0)

    def do_GET(self) -> None:
        self._send_one(int(self.headers["Last-Event-ID"]))

    def _send_one(self, after: int) -> None:
        self.after.append(after)
        if len(self.after) == 2:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("X-Execution-Id", "call_1")
        self.send_header("Content-Type", "text/event-stream")
        # More than will come: the client sees that it was cut off.
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for frame in self.events[after : after + 1]:
            self.wfile.write(frame.encode())
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def cutting(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[Cutting]]]:
    monkeypatch.setattr("locus_client.connection.LONGEST_WAIT_SECS", 0.01)
    handler = type("OneCutting", (Cutting,), {"events": [], "after": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def frame(seq: int, name: str) -> str:
    data = json.dumps({"event": name, "data": {"content": f"{seq} "}})
    return f"id: {seq}\nevent: {name}\ndata: {data}\n\n"


def test_a_lost_connection_is_taken_up_after_the_last_event(cutting: tuple[str, type[Cutting]]) -> None:
    url, handler = cutting
    handler.events = [frame(seq, "tool_partial_update") for seq in range(1, 5)] + [frame(5, "tool_end")]
    with Client(url, "key") as client:
        events = list(client.stream("rag_search", query="x"))
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert handler.after == [0, 1, 1, 2, 3, 4]


async def test_the_same_awaited_over_lost_connections(cutting: tuple[str, type[Cutting]]) -> None:
    url, handler = cutting
    handler.events = [frame(1, "tool_partial_update"), frame(2, "tool_end")]
    async with AsyncClient(url, "key") as client:
        assert [event.seq async for event in client.stream("rag_search", query="x")] == [1, 2]


def test_a_stream_that_brings_nothing_more_ends(cutting: tuple[str, type[Cutting]]) -> None:
    url, handler = cutting
    handler.events = [frame(1, "tool_partial_update")]
    with Client(url, "key") as client, pytest.raises(ConnectionLost) as lost:
        list(client.stream("rag_search", query="x"))
    assert lost.value.execution_id == "call_1"


def test_a_run_that_may_have_begun_is_not_started_twice() -> None:
    client = Client("http://127.0.0.1:9", "key", timeout=httpx.Timeout(5))
    with client, pytest.raises(ConnectionLost):
        list(client.stream("rag_search", query="x"))
