"""Server-Sent Events: lines become events, and the slices of a large event are joined."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

SLICE = "_delta_sse"
TERMINAL = ("tool_end", "error")


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run: `seq` counts from 1, `name` is `tool_update`, `tool_end` …"""

    seq: int
    name: str
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """The next piece of the response, with raw `<source_N>` marks; empty in other events."""
        return (self.data.get("content") or "") if self.name == "tool_partial_update" else ""

    @property
    def is_last(self) -> bool:
        """Whether the run has ended."""
        return self.name in TERMINAL


class EventReader:
    """Makes events of the lines of one connection."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._slices: list[str] = []
        self._id = 0

    def feed(self, line: str) -> Event | None:
        """Take a line without its end; return the event that it completes, if it does.

        Raise `ValueError` for a stream that is damaged.
        """
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "id":
                self._id = int(value)
            return None
        data, self._data = "\n".join(self._data), []
        return self._completed(json.loads(data)) if data else None

    def _completed(self, message: dict[str, Any]) -> Event | None:
        if message["event"] != SLICE:
            return Event(self._id, message["event"], message["data"])
        piece = message["data"]
        if piece["index"] != len(self._slices):
            raise ValueError("a slice of an event is missing")
        self._slices.append(piece["chunk"])
        if len(self._slices) < piece["total"]:
            return None
        whole, self._slices = "".join(self._slices), []
        if hashlib.sha256(whole.encode()).hexdigest() != piece["sha256"]:
            raise ValueError("the slices of an event do not make it up")
        return self._completed(json.loads(whole))
