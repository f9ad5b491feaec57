"""An installation behind a pooler of transactions: `DATABASE_URL` is pgbouncer; few sessions serve all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource, connect_sse
from websockets.sync.client import connect

from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.live import database_address, live_server, live_worker
from tests.testing.pooler import pooler

pytestmark = [pytest.mark.slow("starts"), pytest.mark.django_db(transaction=True)]
# Fewer than there are requests at a time: sessions go from one person to the next.
SESSIONS = 3
AT_ONCE, ROUNDS = 8, 6
TEXT = b"The lighthouse of Punta Brava was lit for the first time on 4 August 1868. Its keeper was Ines Faro."
QUESTION = "When was the lighthouse of Punta Brava lit?"


@pytest.fixture
def pooled(db: None) -> Iterator[str]:
    """The address of a web server that runs with a worker behind a pooler."""
    direct = database_address()
    with pooler(direct, SESSIONS) as address:
        behind = {"DATABASE_URL": address, "DATABASE_DIRECT_URL": direct}
        with live_server(**behind) as server, live_worker(**behind):
            yield server.url


def api(url: str, cast: Cast, name: str) -> httpx.Client:
    return httpx.Client(base_url=f"{url}/api/v1/", headers=cast.headers(name), timeout=90)


def last_of(source: EventSource) -> Any:
    """Return the data of a stream's last event."""
    return [json.loads(event.data) for event in source.iter_sse() if event.data][-1]["data"]


def test_documents_are_read_and_answers_streamed_behind_a_pooler(pooled: str) -> None:
    cast = make_cast()
    with api(pooled, cast, "alice") as http:
        uploaded = http.post("documents", files={"files": ("harbour.txt", TEXT)})
        assert uploaded.status_code == 202, uploaded.text
        [document] = [each["id"] for each in uploaded.json()["documents"]]
        with connect_sse(http, "GET", f"documents/{document}/events") as source:
            # Notifications are listened for beside the pooler.
            assert last_of(source)["status"] == "ready"
        body = {"query": QUESTION, "stream": True}
        with connect_sse(http, "POST", "tools/rag_search", json=body) as source:
            ending = last_of(source)
    assert "4 August 1868" in ending["response"] and ending["contexts"][0]["document_id"] == document
    address = f"{pooled.replace('http', 'ws')}/ws/tools/rag_search"
    with connect(address, additional_headers=cast.headers("alice"), open_timeout=30) as socket:
        socket.send(json.dumps({"query": QUESTION}))
        events = [json.loads(socket.recv(timeout=60))]
        while events[-1]["event"] not in ("tool_end", "error"):
            events.append(json.loads(socket.recv(timeout=60)))
    assert events[-1]["event"] == "tool_end" and "4 August 1868" in events[-1]["data"]["response"]


def test_a_session_takes_nobodys_rights_to_the_next(pooled: str) -> None:
    """People of two tenants ask at once through the same few sessions; each sees its own documents alone."""
    cast = make_cast()
    indexed_document(cast.team, "The lighthouse was lit in 1868.", name="team.txt")
    indexed_document(cast.charlie.personal_workspace, "The lighthouse was lit in 1901.", name="charlie.txt")
    own = {"alice": "team.txt", "charlie": "charlie.txt"}

    def seen_by(number: int) -> tuple[str, set[str]]:
        name = ("alice", "charlie")[number % 2]
        with api(pooled, cast, name) as http:
            listed = http.get("documents").json()["results"]
            asked = http.post("tools/rag_search", json={"query": "When was the lighthouse lit?"}).json()
        found = {each["document_name"] for each in asked["contexts"]}
        return name, {each["name"] for each in listed} | found

    with ThreadPoolExecutor(AT_ONCE) as people:
        for name, names in people.map(seen_by, range(AT_ONCE * ROUNDS)):
            assert names == {own[name]}
