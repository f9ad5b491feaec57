"""`rag_search` through the real ASGI application, PostgreSQL and model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.exceptions import ImproperlyConfigured
from django.test import AsyncClient

from core.errors import Timeout
from core.locations import InFile, LocatedText, Span
from kb.models import Chunk, Document
from runs.models import Execution
from search.closest import comparable_at_once
from search.text_processes import Embed, text_processes
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document, stored_document
from tests.search.contexts import context
from tests.testing.sockets import Socket, socket

pytestmark = pytest.mark.django_db(transaction=True)

SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
ROSES = "Tea roses need a sheltered, sunny bed. They are pruned in late winter, before the buds break."
PHASES = ["SEARCH_PREPARATION", "RETRIEVAL", "RERANKING", "COMPILING_RESULTS"]


@pytest.fixture
async def people() -> Cast:
    return await sync_to_async(make_cast)()


@pytest.fixture
async def documents(people: Cast) -> dict[str, Document]:
    make = sync_to_async(indexed_document)
    return {
        "solar": await make(people.team, SOLAR),
        "roses": await make(people.team, ROSES, name="roses.pdf"),
        "charlies": await make(
            await sync_to_async(lambda: people.charlie.personal_workspace)(), SOLAR, name="secret.pdf"
        ),
    }


async def run(people: Cast, body: dict[str, Any], name: str = "alice", query: str = "") -> Any:
    return await AsyncClient().post(
        f"/api/v1/tools/rag_search{query}",
        json.dumps(body),
        content_type="application/json",
        headers=people.headers(name),
    )


async def events_of(response: Any) -> list[dict[str, Any]]:
    """Read a stream of Server-Sent Events to its end."""
    text = b"".join([block async for block in response.streaming_content]).decode()
    frames = [frame for frame in text.split("\n\n") if frame.startswith("id:")]
    parsed = [dict(line.split(": ", 1) for line in frame.split("\n")) for frame in frames]
    return [{"id": int(p["id"]), "event": p["event"], **json.loads(p["data"])} for p in parsed]


def without_markup(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r'<source_\d+>|<citation id="[^"]*">\[\d+\]</citation>', "", text))


async def test_the_answer_is_cited_to_the_box(people: Cast, documents: dict[str, Document]) -> None:
    response = await run(people, {"query": "How much did the solar farm produce in 2023?"})
    assert response.status_code == 200
    result = response.json()
    first = result["contexts"][0]
    assert response["X-Execution-Id"] == result["execution_id"]
    assert result["answered"] is True
    assert first["document_name"] == "solar.pdf"
    assert first["rank"] in result["sources_used"]
    assert "42 gigawatt hours" in first["quote"]
    assert "place" not in first
    assert f'<citation id="{first["chunk_id"]}">[1]</citation>' in result["response"]
    assert [c["rank"] for c in result["contexts"]] == list(range(1, len(result["contexts"]) + 1))
    assert {c["rank"] for c in result["contexts"] if c["used_in_response"]} == set(result["sources_used"])
    quoted, whole = first["quotes"][0]["bbox"], first["bbox"]
    assert quoted
    for box in quoted:
        assert any(
            box["bbox"][0] >= b["bbox"][0] - 0.1 and box["bbox"][3] <= b["bbox"][3] + 0.1 for b in whole
        )


async def test_a_file_without_pages_is_cited_by_its_lines(people: Cast) -> None:
    lines = ["The ferry leaves the old quay at noon.", "The lighthouse of Almería was built in 1893."]
    at = len(lines[0]) + 1
    spans = [Span(0, at - 1, InFile(lines=(7, 7))), Span(at, at + len(lines[1]), InFile(lines=(8, 8)))]
    text = LocatedText.of_spans("\n".join(lines), spans)
    kind = {"file_type": "md", "mime_type": "text/markdown"}
    await sync_to_async(stored_document)(people.team, "notes.md", b"notes", [text], **kind)
    result = (await run(people, {"query": "When was the lighthouse of Almería built?"})).json()
    [context] = result["contexts"]
    assert (context["page_number"], context["place"]) == (None, {"lines": [7, 8]})
    assert [quote["place"] for quote in context["quotes"]] == [{"lines": [8, 8]}]


async def test_the_stream_has_the_contracts_order(people: Cast, documents: dict[str, Document]) -> None:
    response = await run(people, {"query": "When are tea roses pruned?", "stream": True})
    assert response["Content-Type"] == "text/event-stream"
    assert (response["Cache-Control"], response["X-Accel-Buffering"]) == ("no-cache", "no")
    events = await events_of(response)
    assert [e["id"] for e in events] == list(range(1, len(events) + 1))
    assert events[0]["data"]["execution_id"] == response["X-Execution-Id"]
    phases = [e["data"]["phase"] for e in events if "phase" in e["data"]]
    assert phases == PHASES
    counts = next(e["data"]["data"] for e in events if e["data"].get("phase") == "RERANKING")
    contexts = next(e["data"] for e in events if "contexts" in e["data"])
    assert contexts["output_key"] == "contexts"
    assert counts["kept_count"] == len(contexts["contexts"])
    kinds = [e["event"] for e in events]
    assert kinds[-1] == "tool_end"
    assert kinds.count("tool_end") + kinds.count("error") == 1
    partials = [e["data"] for e in events if e["event"] == "tool_partial_update"]
    assert partials
    assert {p["output_key"] for p in partials} == {"response"}
    joined = "".join(p["content"] for p in partials)
    assert without_markup(joined) == without_markup(events[-1]["data"]["response"])


async def test_a_stream_can_be_replayed_from_any_event(people: Cast, documents: dict[str, Document]) -> None:
    response = await run(people, {"query": "When are tea roses pruned?", "stream": True})
    events = await events_of(response)
    address = f"/api/v1/executions/{response['X-Execution-Id']}/events"
    for after in range(len(events)):
        again = await AsyncClient().get(address, {"after": after}, headers=people.headers("alice"))
        assert await events_of(again) == events[after:]
    over = await AsyncClient().get(
        address, {"after": 0}, headers=people.headers("alice", **{"Last-Event-ID": str(len(events))})
    )
    assert over.status_code == 204


async def test_small_frames_carry_the_same_events(people: Cast, documents: dict[str, Document]) -> None:
    response = await run(
        people, {"query": "Who owns the solar farm?", "stream": True}, query="?sse_max_bytes=512"
    )
    text = b"".join([block async for block in response.streaming_content])
    assert max(len(frame) + 2 for frame in text.split(b"\n\n")) <= 512
    ids = [int(n) for n in re.findall(rb"^id: (\d+)$", text, re.M)]
    assert ids == list(range(1, len(ids) + 1))


async def test_execute_answers_at_once_and_can_be_followed(
    people: Cast, documents: dict[str, Document]
) -> None:
    response = await AsyncClient().post(
        "/api/v1/tools/rag_search/execute",
        json.dumps({"inputs": {"query": "Who owns the solar farm?"}}),
        content_type="application/json",
        headers=people.headers("alice"),
    )
    assert response.status_code == 202
    body = response.json()
    stream = await AsyncClient().get(body["stream_url"], headers=people.headers("alice"))
    events = await events_of(stream)
    details = (await AsyncClient().get(body["details_url"], headers=people.headers("alice"))).json()
    assert details["status"] == "completed"
    assert details["result"] == events[-1]["data"]


async def test_another_tenants_twin_document_is_never_found(
    people: Cast, documents: dict[str, Document]
) -> None:
    question = {"query": "How much did the solar farm produce in 2023?"}
    for name, sees in (("alice", {"solar.pdf", "roses.pdf"}), ("charlie", {"secret.pdf"})):
        result = (await run(people, question, name)).json()
        assert {c["document_name"] for c in result["contexts"]} == sees


async def test_document_ids_narrow_and_an_empty_list_searches_nothing(
    people: Cast, documents: dict[str, Document]
) -> None:
    question = "How much did the solar farm produce?"
    only = await run(people, {"query": question, "document_ids": [str(documents["roses"].pk)]})
    assert {c["document_name"] for c in only.json()["contexts"]} == {"roses.pdf"}
    none = (await run(people, {"query": question, "document_ids": []})).json()
    assert (none["contexts"], none["sources_used"], none["answered"]) == ([], [], False)


async def test_filters_narrow_as_in_search(people: Cast, documents: dict[str, Document]) -> None:
    await Document.unscoped.filter(pk=documents["roses"].pk).aupdate(tags=["garden"])
    filters = {"tags": ["garden"], "created_after": "2020-01-01"}
    result = (await run(people, {"query": "How much did the solar farm produce?", "filters": filters})).json()
    assert {c["document_name"] for c in result["contexts"]} == {"roses.pdf"}
    tool = await AsyncClient().get("/api/v1/tools/rag_search", headers=people.headers("alice"))
    assert "tags" in tool.json()["input_schema"]["$defs"]["FiltersInput"]["properties"]


async def test_nothing_relevant_is_said_honestly(people: Cast, documents: dict[str, Document]) -> None:
    result = (await run(people, {"query": "Which enzyme unwinds the double helix?"})).json()
    assert (result["answered"], result["sources_used"]) == (False, [])
    assert "no answer" in result["response"]


LEASE = " ".join(
    [
        "The flat lies on the third floor and is let with its cellar.",
        *(f"Room {number} has a window to the yard and a radiator below it." for number in range(1, 9)),
        "Dogs may not be kept.",
        "The stairs are swept by the caretaker.",
    ]
)


async def test_where_nothing_answers_the_closest_sentence_is_shown(people: Cast) -> None:
    """It stands in the preview, too, with the one before it."""
    lease = await sync_to_async(indexed_document)(people.team, LEASE, name="lease.pdf")
    body = {"query": "What does it cost to keep a dog?", "document_ids": [str(lease.pk)]}
    result = (await run(people, body)).json()
    assert (result["outcome"], result["answered"]) == ("closest", False)
    [context] = result["contexts"]
    closest = context["closest"]
    assert closest["text"] == "Dogs may not be kept."
    assert LEASE[closest["chunk_start"] : closest["chunk_end"]] == closest["text"]
    assert closest["bbox"]
    assert "response_start" not in closest
    assert context["text_preview"].startswith(
        "Room 8 has a window to the yard and a radiator below it. Dogs may"
    )
    assert context["quotes"] == []
    await sync_to_async(lease.delete)()
    address = f"/api/v1/executions/{result['execution_id']}"
    stored = await AsyncClient().get(address, headers=people.headers("alice"))
    assert "closest" not in stored.json()["result"]["contexts"][0]
    assert "Dogs" not in stored.content.decode()


async def test_a_cited_answer_has_no_closest_sentence(people: Cast, documents: dict[str, Document]) -> None:
    result = (await run(people, {"query": "Who owns the solar farm?"})).json()
    assert result["answered"]
    assert not any("closest" in context for context in result["contexts"])


@pytest.mark.parametrize(
    "error",
    [
        Timeout("The text took too long."),
        ImproperlyConfigured("No model."),
        RuntimeError("A text can't be read."),
    ],
    ids=["slow", "no model", "failed"],
)
async def test_no_answer_is_lost_for_closest_sentences(
    people: Cast, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    lease = await sync_to_async(indexed_document)(people.team, LEASE, name="lease.pdf")
    whole = text_processes.run

    def slow(task: str, *arguments: object, embed: Embed) -> Any:
        if task == "closest":
            raise error
        return whole(task, *arguments, embed=embed)

    monkeypatch.setattr(text_processes, "run", slow)
    body = {"query": "What does it cost to keep a dog?", "document_ids": [str(lease.pk)]}
    result = (await run(people, body)).json()
    assert result["outcome"] == "closest"
    assert "closest" not in result["contexts"][0]
    assert result["contexts"][0]["text_preview"] == LEASE[:300]


@pytest.mark.parametrize(
    ("question", "languages"), [("What does a dog cost?", ["en"]), ("Was kostet ein Hund?", [])]
)
def test_no_model_is_loaded_for_closest_sentences(question: str, languages: list[str]) -> None:
    """The packaged model knows English alone; a language model's user has asked for no other."""
    contexts = [replace(context(1, "No dogs."), language=language) for language in ("en", "de")]
    assert [each.language for each in comparable_at_once(question, contexts)] == languages


async def test_a_stored_result_hides_what_its_reader_no_longer_sees(
    people: Cast, documents: dict[str, Document]
) -> None:
    result = (await run(people, {"query": "Who owns the solar farm?"})).json()
    await sync_to_async(documents["solar"].delete)()
    address = f"/api/v1/executions/{result['execution_id']}"
    stored = (await AsyncClient().get(address, headers=people.headers("alice"))).json()["result"]
    gone, kept = stored["contexts"]
    assert gone == {
        "rank": 1,
        "document_id": result["contexts"][0]["document_id"],
        "text_preview": None,
        "quote": None,
        "quotes": None,
        "bbox": None,
        "unavailable": True,
    }
    assert kept == result["contexts"][1]
    replayed = await events_of(await AsyncClient().get(f"{address}/events", headers=people.headers("alice")))
    shown = [event["data"]["contexts"] for event in replayed if "contexts" in event["data"]]
    assert len(shown) == 2
    assert [contexts[0] for contexts in shown] == [gone, gone]


UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ({}, 400, "validation_error", "query"),
        ({"query": ""}, 400, "validation_error", "query"),
        ({"query": "   "}, 400, "validation_error", "query"),
        ({"query": "x" * 2001}, 400, "validation_error", "query"),
        ({"query": 7}, 400, "validation_error", "query"),
        ({"query": "a\x00b"}, 400, "validation_error", "query"),
        ({"query": "a", "limit": 21}, 400, "validation_error", "limit"),
        ({"query": "a", "limit": True}, 400, "validation_error", "limit"),
        ({"query": "a", "document_id": [UNKNOWN]}, 400, "unknown_field", "document_id"),
        ({"query": "a", "filters": {"tgas": ["x"]}}, 400, "unknown_field", "filters.tgas"),
        ({"query": "a", "document_ids": ["nonsense"]}, 400, "validation_error", "document_ids[0]"),
        ({"query": "a", "document_ids": [UNKNOWN]}, 404, "not_found", "document_ids[0]"),
        ({"query": "a", "workspace_ids": [UNKNOWN]}, 404, "not_found", "workspace_ids[0]"),
        ({"query": "a", "workspace_id": UNKNOWN}, 404, "not_found", "workspace_id"),
        ({"query": "a", "session_id": UNKNOWN}, 404, "not_found", "session_id"),
        ({"query": "a", "external_user_id": " "}, 400, "validation_error", "external_user_id"),
        ({"query": "a", "stream": "yes"}, 400, "validation_error", "stream"),
        ([], 400, "validation_error", None),
    ],
    ids=str,
)
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
async def test_a_bad_request_is_refused_before_anything_starts(
    people: Cast, body: Any, status: int, code: str, param: str | None, stream: bool
) -> None:
    if stream and isinstance(body, dict):
        body = {"stream": True} | body
    response = await run(people, body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error.get("param")) == (status, code, param)
    assert error["message"]
    assert not await Execution.unscoped.aexists()


async def test_an_invisible_document_is_not_told_from_an_unknown_one(
    people: Cast, documents: dict[str, Document]
) -> None:
    hidden, unknown = str(documents["charlies"].pk), UNKNOWN
    answers = [(await run(people, {"query": "a", "document_ids": [id]})) for id in (hidden, unknown)]
    bodies = [a.content.decode().replace(hidden, "ID").replace(unknown, "ID") for a in answers]
    assert bodies[0] == bodies[1]
    assert {a.status_code for a in answers} == {404}


async def test_broken_json(people: Cast) -> None:
    response = await AsyncClient().post(
        "/api/v1/tools/rag_search", "{", content_type="application/json", headers=people.headers("alice")
    )
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_json")


class TestWebsocket:
    @pytest.fixture
    async def open_socket(self, people: Cast, documents: dict[str, Document]) -> AsyncIterator[Socket]:
        headers = [(b"authorization", f"Bearer {people.keys['alice']}".encode())]
        opened = socket("/ws/tools/rag_search", headers)
        await opened.connect(timeout=20)
        yield opened
        await opened.disconnect()

    async def to_end(self, open_socket: Socket) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        while not events or events[-1]["event"] not in {"tool_end", "error"}:
            events.append(await open_socket.receive_json_from(timeout=30))
        return events

    async def test_it_carries_the_same_events_as_sse(self, people: Cast, open_socket: Socket) -> None:
        await open_socket.send_json_to({"type": "run", "inputs": {"query": "Who owns the solar farm?"}})
        events = await self.to_end(open_socket)
        assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
        address = f"/api/v1/executions/{events[0]['execution_id']}/events"
        replayed = await events_of(await AsyncClient().get(address, headers=people.headers("alice")))
        assert [(e["event"], e["data"]) for e in events] == [(e["event"], e["data"]) for e in replayed]

    async def test_an_object_without_type_runs_and_the_next_may_follow(self, open_socket: Socket) -> None:
        for _ in range(2):
            await open_socket.send_json_to({"query": "Who owns the solar farm?"})
            events = await self.to_end(open_socket)
            assert events[-1]["data"]["answered"] is True

    async def test_resume_sends_what_was_missed(self, open_socket: Socket) -> None:
        await open_socket.send_json_to({"query": "Who owns the solar farm?"})
        events = await self.to_end(open_socket)
        resume = {"type": "resume", "execution_id": events[0]["execution_id"], "after": 3}
        await open_socket.send_json_to(resume)
        assert await self.to_end(open_socket) == events[3:]

    @pytest.mark.parametrize(
        ("message", "code"),
        [
            ("nonsense", "invalid_json"),
            ("[]", "validation_error"),
            ('{"type": "dance"}', "validation_error"),
            ('{"type": "run", "inputs": {"query": ""}}', "validation_error"),
            ('{"qeury": "a"}', "unknown_field"),
            ('{"type": "resume"}', "validation_error"),
            ('{"type": "cancel"}', "validation_error"),
        ],
    )
    async def test_a_bad_message_is_answered_and_the_socket_stays_open(
        self, open_socket: Socket, message: str, code: str
    ) -> None:
        await open_socket.send_to(text_data=message)
        answer = await open_socket.receive_json_from(timeout=20)
        assert (answer["event"], answer["data"]["code"], "execution_id" in answer) == ("error", code, False)
        await open_socket.send_json_to({"query": "Who owns the solar farm?"})
        assert (await self.to_end(open_socket))[-1]["event"] == "tool_end"


class TestCancel:
    async def test_a_running_execution_ends_cancelled_with_the_text_so_far(
        self, people: Cast, documents: dict[str, Document], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from search.generation.extractive import ExtractiveGenerator

        async def slowly(self: object, asked: object, payment: object) -> AsyncIterator[str]:
            yield "It is known that "
            await asyncio.sleep(60)
            yield "never said"

        monkeypatch.setattr(ExtractiveGenerator, "answer", slowly)
        response = await run(people, {"query": "Who owns the solar farm?", "stream": True})
        execution_id = response["X-Execution-Id"]
        while not await Execution.unscoped.filter(events__event="tool_partial_update").aexists():
            await asyncio.sleep(0.02)
        for _ in range(2):
            cancelled = await AsyncClient().post(
                f"/api/v1/executions/{execution_id}/cancel", headers=people.headers("alice")
            )
            body = cancelled.json()
            assert (cancelled.status_code, body["status"]) == (200, "cancelled")
        assert body["result"] == {"response": "It is known that ", "partial": True}
        events = await events_of(response)
        assert (events[-1]["event"], events[-1]["data"]["code"]) == ("error", "cancelled")
        assert [e["event"] for e in events].count("error") == 1


async def test_a_replaced_chunk_is_never_found(people: Cast, documents: dict[str, Document]) -> None:
    await Chunk.unscoped.filter(document=documents["solar"]).aupdate(replaced_by=[])
    result = (await run(people, {"query": "How much did the solar farm produce in 2023?"})).json()
    assert {c["document_name"] for c in result["contexts"]} == {"roses.pdf"}


# --- Whose wishes count ------------------------------------------------------------------------------------


async def change(people: Cast, path: str, body: dict[str, Any]) -> None:
    changed = await AsyncClient().patch(
        f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=people.headers("alice")
    )
    assert changed.status_code == 200, changed.content


async def test_the_request_the_user_and_the_workspace_say_how_many_contexts(
    people: Cast, documents: dict[str, Document]
) -> None:
    body = {"query": "roses and solar farms", "workspace_id": str(people.team.pk)}

    async def contexts(**more: Any) -> int:
        return len((await run(people, body | more)).json()["contexts"])

    assert await contexts() == 2
    await change(people, f"workspaces/{people.team.pk}/settings", {"rag": {"contexts": 1}})
    assert await contexts() == 1
    await change(people, "preferences", {"rag": {"contexts": 2}})
    assert await contexts() == 2
    assert await contexts(limit=1) == 1


async def test_the_trace_tells_how_the_answer_came_about(
    people: Cast, documents: dict[str, Document]
) -> None:
    await change(people, "preferences", {"rag": {"reranker": "none"}})
    result = (await run(people, {"query": "How much did the solar farm produce in 2023?"})).json()
    told = (
        await AsyncClient().get(
            f"/api/v1/executions/{result['execution_id']}", headers=people.headers("alice")
        )
    ).json()
    steps = told["trace"]["steps"]
    assert (told["usage"], told["cost"]) == ({"input_tokens": 0, "output_tokens": 0}, 0.0)
    assert steps["retrieved"] == 2
    assert steps["reranked"] == 0
    assert [kept["rank"] for kept in steps["kept"]] == [c["rank"] for c in result["contexts"]]
    # Documents may become invisible to whoever may still read how an answer came about.
    assert not any(context["chunk_id"] in json.dumps(told["trace"]) for context in result["contexts"])
    assert {verdict["outcome"] for verdict in steps["citations"]} == {"held"}
    assert told["trace"]["timings"].keys() >= {"retrieval", "generation", "verification", "total"}


async def test_what_is_not_relevant_is_not_answered(people: Cast, documents: dict[str, Document]) -> None:
    result = (await run(people, {"query": "How is cheese made in the Alps?"})).json()
    assert (result["answered"], result["sources_used"], result["citations_removed"]) == (False, [], 0)
    assert "no answer" in result["response"]
    assert not any(context["used_in_response"] for context in result["contexts"])
