"""A running web server asked over every transport, each by a client library of its own, and the schemas."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import ServerSentEvent, connect_sse
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from websockets.sync.client import ClientConnection, connect

from tests.conftest import Cast
from tests.testing.live import live_server

SCHEMAS = Path(__file__).parent / "schemas"
TERMINAL = {"tool_end", "error"}
MARKUP = re.compile(r"<source_\d+>|<(?P<kind>(?:web_)?citation) [^>]*>\[\d+\]</(?P=kind)>")
Event = dict[str, Any]
Stream = list[tuple[int, Event]]
"""The events of an execution with their numbers."""


def validator(name: str, *, whole: bool = False) -> Draft202012Validator:
    """Return what checks the shape of a file in `schemas`.

    `whole`: of what it knows nothing may be missing, but where a `$comment` says when it is.
    """
    files = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}
    if whole:
        files = {file: _whole(schema) for file, schema in files.items()}
    registry: Registry[Any] = Registry().with_resources(
        (file, Resource.from_contents(content)) for file, content in files.items()
    )
    return Draft202012Validator(files[f"{name}.json"], registry=registry)


@cache
def api_validator(url: str, name: str) -> Draft202012Validator:
    """Return what checks the shape of a component of the API's own schema, as a web server tells it."""
    schema = httpx.get(f"{url}/api/schema?format=json", timeout=60).json()
    components = {"components": schema["components"]}
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}"} | components)


def _whole(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_whole(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: _whole(value) for key, value in schema.items()}
    if schema.get("additionalProperties") is False and not schema.get("$comment"):
        schema["required"] = list(schema["properties"])
    return schema


class Server:
    """A client of the running web server that speaks for alice."""

    def __init__(self, url: str, cast: Cast, tool: str = "rag_search") -> None:
        self.url, self.headers, self.tool = url, cast.headers("alice"), tool
        self.http = httpx.Client(base_url=f"{url}/api/v1/", headers=self.headers, timeout=60)

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return self.http.post(path, json=body, headers=headers)

    def details(self, execution_id: str) -> dict[str, Any]:
        details: dict[str, Any] = self.http.get(f"executions/{execution_id}").json()
        validator("execution").validate(details)
        self.check("ExecutionDetails", details)
        return details

    def check(self, name: str, value: Any) -> None:
        """Check the shape that the API's own schema tells of."""
        api_validator(self.url, name).validate(value)

    def sse(self, how: str, path: str, **options: Any) -> tuple[httpx.Headers, Stream]:
        """Read a stream of Server-Sent Events to its end, large events joined."""
        with connect_sse(self.http, how, path, **options) as source:
            events = list(joined(source.iter_sse()))
        for _, event in events:
            self.check("ToolEvent", event)
        return source.response.headers, events

    def opened(self) -> ClientConnection:
        """Open a websocket."""
        address = f"{self.url.replace('http', 'ws', 1)}/ws/tools/{self.tool}"
        return connect(address, additional_headers=self.headers)

    def socket(self, *messages: dict[str, Any]) -> Stream:
        """Send messages and read a websocket up to the terminal event."""
        with self.opened() as opened:
            for message in messages:
                opened.send(json.dumps(message))
            return to_the_end(opened)


def to_the_end(opened: ClientConnection) -> Stream:
    """Read a websocket up to the terminal event."""
    events: Stream = []
    while not events or events[-1][1]["event"] not in TERMINAL:
        message = json.loads(opened.recv(timeout=60))
        assert set(message) == {"event", "data", "execution_id", "seq"}
        events.append((message["seq"], {"event": message["event"], "data": message["data"]}))
    return events


def check_numbers(events: Stream) -> list[Event]:
    """Check that a stream counts from 1, says first whose it is, and ends once; return its messages."""
    assert [seq for seq, _ in events] == list(range(1, len(events) + 1))
    messages = [message for _, message in events]
    kinds = [message["event"] for message in messages]
    assert kinds[-1] in TERMINAL
    assert sum(kind in TERMINAL for kind in kinds) == 1
    assert messages[0]["data"]["execution_id"]
    return messages


def check_partials(messages: Sequence[Event], response: str) -> None:
    """Check that partials are short, cut no marker, and say together what the response does."""
    partials = [each["data"]["content"] for each in messages if each["event"] == "tool_partial_update"]
    assert max(len(json.dumps(partial)) - 2 for partial in partials) <= 256
    assert not any(re.search(r"<source_?\d*$|^\d*>", partial) for partial in partials)
    assert without_markup("".join(partials)) == without_markup(response)
    assert "<source_" not in response


def without_markup(text: str) -> str:
    return re.sub(r"\s+", "", MARKUP.sub("", text))


def joined(events: Iterator[ServerSentEvent]) -> Iterator[tuple[int, Event]]:
    """Join slices as a client does: by index, checked, then dispatched."""
    slices: list[dict[str, Any]] = []
    for event in events:
        if event.event != "_delta_sse":
            assert event.json()["event"] == event.event
            yield int(event.id), event.json()
            continue
        validator("delta_sse").validate(event.json())
        slices.append(event.json()["data"])
        if slices[-1]["index"] == slices[-1]["total"] - 1:
            whole = "".join(piece["chunk"] for piece in slices).encode()
            assert hashlib.sha256(whole).hexdigest() == slices[0]["sha256"]
            assert [piece["index"] for piece in slices] == list(range(slices[0]["total"]))
            slices = []
            yield int(event.id), json.loads(whole)


@contextmanager
def running(**environment: str) -> Iterator[str]:
    """Run a web server on the test database until the block is left; give its address."""
    with live_server(**environment) as server:
        yield server.url
