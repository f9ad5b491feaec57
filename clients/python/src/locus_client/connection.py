"""What both clients share: headers, and how a stream is followed over lost connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from locus_client.errors import ConnectionLost, LocusError, error_of
from locus_client.events import Event, EventReader

MOST_ATTEMPTS = 6
"""In a row that bring no event."""
FIRST_WAIT_SECS, LONGEST_WAIT_SECS = 0.25, 8.0
OVER, NOT_NOW = 204, (502, 503, 504)
TIMEOUT = httpx.Timeout(60.0, connect=10.0)


def headers_of(key: str, external_user_id: str | None) -> dict[bytes, bytes]:
    """Return the headers of every request."""
    headers = {b"Authorization": f"Bearer {key}".encode()}
    # As UTF-8: the names of other people's customers may have any letters.
    return headers | ({b"X-External-User-Id": external_user_id.encode()} if external_user_id else {})


def api_of(address: str) -> str:
    """Return the address of the API of a server."""
    return f"{address.rstrip('/')}/api/v1/"


@dataclass(slots=True)
class Following:
    """A run that is followed: how to ask for its events, and which one was the last."""

    path: str
    body: dict[str, Any] | None
    """None for a run that has begun already."""
    execution_id: str | None = None
    last: int = 0
    attempts: int = 0
    has_ended: bool = False
    reader: EventReader = field(default_factory=EventReader)

    @classmethod
    def of_tool(cls, name: str, inputs: Mapping[str, Any]) -> Following:
        """Start a tool."""
        return cls(f"tools/{name}", {**inputs, "stream": True})

    @classmethod
    def of_execution(cls, id: str, after: int) -> Following:
        """Follow a run."""
        return cls(f"executions/{id}/events", None, id, after)

    def is_over(self) -> bool:
        """Return whether nothing more will come."""
        return self.has_ended

    def request(self) -> dict[str, Any]:
        """Return the next request: the start of the run, or its events after the last one that came."""
        self.reader = EventReader()
        if self.execution_id is None:
            return {"method": "POST", "url": self.path, "json": self.body}
        headers = {"Last-Event-ID": str(self.last)}
        return {"method": "GET", "url": f"executions/{self.execution_id}/events", "headers": headers}

    def accept(self, response: httpx.Response) -> None:
        """Look at the beginning of a reply; an error has been read. Raise `LocusError` for it."""
        if self.execution_id is not None and response.status_code in NOT_NOW:
            raise httpx.RemoteProtocolError("The server does not answer now.")
        if response.is_error:
            raise error_of(response)
        self.execution_id = response.headers.get("X-Execution-Id", self.execution_id)
        self.has_ended = response.status_code == OVER

    def feed(self, line: str) -> Event | None:
        """Take a line; return the event that it completes. Raise `LocusError` for the event `error`."""
        event = self.reader.feed(line)
        if event is None or event.seq <= self.last:
            return None
        self.last, self.attempts, self.has_ended = event.seq, 0, event.is_last
        if event.name == "error":
            raise LocusError(event.data)
        return event

    def wait_secs(self) -> float:
        """Return how long to wait before the next attempt; raise `ConnectionLost` if there is none.

        A run that may have begun without telling its name is not started a second time.
        """
        self.attempts += 1
        if self.execution_id is None or self.attempts > MOST_ATTEMPTS:
            raise ConnectionLost(self.execution_id)
        return min(LONGEST_WAIT_SECS, FIRST_WAIT_SECS * float(1 << self.attempts))
