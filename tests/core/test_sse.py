"""Frames on the wire: the limit, the slices, the resume point."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.sse import compact, frames
from runs.journal import StoredEvent


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


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=3000)
PAYLOADS = st.dictionaries(
    TEXT,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
        max_leaves=10,
    ),
    max_size=5,
)


@given(PAYLOADS, st.integers(512, 32768), st.integers(1, 2**31 - 1))
def test_any_payload_comes_back_byte_for_byte(payload: dict[str, Any], limit: int, seq: int) -> None:
    event = StoredEvent("call_x", seq, "tool_partial_update", payload)
    sent = list(frames(event, limit))
    whole = compact({"event": event.event, "data": payload})
    parts = [parse(frame) for frame in sent]
    assert max(map(len, sent)) <= limit
    assert [part.get("id") for part in parts] == [None] * (len(sent) - 1) + [str(seq)]
    if len(sent) == 1:
        assert sent[0] == f"id: {seq}\nevent: {event.event}\ndata: {whole}\n\n".encode()
        return
    slices = [part["data"]["data"] for part in parts]
    assert "".join(piece["chunk"] for piece in slices) == whole
    assert json.loads(whole) == {"event": event.event, "data": payload}
    for index, piece in enumerate(slices):
        assert (piece["index"], piece["total"], piece["bytes"]) == (index, len(sent), len(whole.encode()))
        assert piece["sha256"] == hashlib.sha256(whole.encode()).hexdigest()


@given(st.text(st.sampled_from('\\"é中😀\u2028\x85\n\x00a'), min_size=500, max_size=3000))
def test_slices_are_full(text: str) -> None:
    """What is hard to cut, cut as late as it can be: a frame has room for at most one more character."""
    *full, _ = frames(StoredEvent("call_x", 1, "tool_end", {"response": text}), 512)
    assert all(len(frame) > 512 - 30 for frame in full)


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\r\n"])
def test_no_character_ends_a_line(end: str) -> None:
    """Not for a client that takes everything for an end of line that Unicode calls one."""
    [frame] = frames(StoredEvent("call_x", 1, "tool_end", {"response": f"a{end}b"}), 512)
    assert len(frame.decode().splitlines()) == 4
    assert parse(frame)["data"]["data"]["response"] == f"a{end}b"
