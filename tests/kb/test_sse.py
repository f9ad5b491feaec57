"""Frames on the wire: the limit, the slices, the resume point."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from kb.sse import frames
from search.executions import StoredEvent


def parse(frame: bytes) -> dict[str, Any]:
    """Read one frame the way EventSource does."""
    assert frame.endswith(b"\n\n")
    fields = dict(line.split(": ", 1) for line in frame.decode().strip().split("\n"))
    return fields | {"data": json.loads(fields["data"])}


def test_a_small_event_is_one_frame() -> None:
    event = StoredEvent("call_x", 7, "tool_update", {"phase": "RETRIEVAL"})
    [frame] = frames(event, 32768)
    assert parse(frame) == {
        "id": "7",
        "event": "tool_update",
        "data": {"event": "tool_update", "data": {"phase": "RETRIEVAL"}},
    }


@pytest.mark.parametrize("limit", [512, 600, 4096, 32768])
@pytest.mark.parametrize(
    "text", ["plain " * 20000, '\\"\n' * 20000, "😀é中" * 5000], ids=["ascii", "escapes", "wide"]
)
def test_a_large_event_is_cut_and_joins_again(limit: int, text: str) -> None:
    event = StoredEvent("call_x", 3, "tool_end", {"response": text})
    sent = list(frames(event, limit))
    parts = [parse(frame) for frame in sent]
    slices = [part["data"]["data"] for part in parts]
    whole = "".join(s["chunk"] for s in slices)

    assert max(map(len, sent)) <= limit
    assert [s["index"] for s in slices] == list(range(len(sent)))
    assert {s["total"] for s in slices} == {len(sent)}
    assert len({s["delta_id"] for s in slices}) == 1
    assert {s["target_event"] for s in slices} == {"tool_end"}
    assert {part["event"] for part in parts} == {"_delta_sse"}
    assert [part.get("id") for part in parts] == [None] * (len(sent) - 1) + ["3"]
    assert json.loads(whole) == {"event": "tool_end", "data": {"response": text}}
    assert slices[0]["bytes"] == len(whole.encode())
    assert slices[0]["sha256"] == hashlib.sha256(whole.encode()).hexdigest()


def test_an_event_of_exactly_the_limit_is_not_cut() -> None:
    event = StoredEvent("call_x", 1, "tool_end", {"response": "x" * 600})
    [whole] = frames(event, 32768)
    assert len(list(frames(event, len(whole)))) == 1
    assert len(list(frames(event, len(whole) - 1))) == 2
