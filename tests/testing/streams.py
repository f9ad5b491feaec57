"""Clients of streams whose connections are cut again and again, and what they have missed or heard twice."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import httpx
from httpx_sse import aconnect_sse
from websockets.asyncio.client import connect

from tests.testing.scripted import WAIT_SECS, pieces

CUTS = 3
LONGEST_PART = 30
TERMINAL = ("tool_end", "error")
START_SECS = 120.0
Message = dict[str, Any]


@dataclass
class StreamClient:
    """One question and what was heard of its answer, over connections that are cut at random."""

    addresses: Sequence[str]
    key: str
    question: str
    execution_id: str = ""
    heard: list[tuple[int, Message]] = field(default_factory=list)
    asked_at: float = 0.0
    first_event_at: float = 0.0
    first_text_at: float = 0.0

    async def listen(self, http: httpx.AsyncClient, over: str) -> None:
        """Ask, and listen until the end."""
        chance = random.Random(self.question)
        cuts = [chance.randint(1, LONGEST_PART) for _ in range(CUTS)]
        self.asked_at = perf_counter()
        while not self.is_over():
            address = chance.choice(self.addresses)
            events = self._socket(address) if over == "websocket" else self._sse(http, address)
            await self._part(events, cuts.pop() if cuts else None)

    def is_over(self) -> bool:
        """Tell whether the terminal event has come."""
        return bool(self.heard) and self.heard[-1][1]["event"] in TERMINAL

    async def _part(self, events: AsyncIterator[tuple[int, Message]], most: int | None) -> None:
        """Listen until the stream ends, or for as many events as the connection is to live."""
        async with aclosing(events):  # type: ignore[type-var]
            async for event in events:
                self._hear(event)
                if self.is_over() or most == 1:
                    return
                most = most and most - 1

    def _hear(self, event: tuple[int, Message]) -> None:
        self.heard.append(event)
        self.first_event_at = self.first_event_at or perf_counter()
        if event[1]["event"] == "tool_partial_update":
            self.first_text_at = self.first_text_at or perf_counter()

    @property
    def _last(self) -> int:
        return self.heard[-1][0] if self.heard else 0

    async def _socket(self, address: str) -> AsyncIterator[tuple[int, Message]]:
        resume = {"type": "resume", "execution_id": self.execution_id, "after": self._last}
        message = resume if self.execution_id else {"query": self.question}
        url = f"{address.replace('http', 'ws', 1)}/ws/tools/rag_search"
        async with connect(url, additional_headers=self._headers(), open_timeout=START_SECS) as connection:
            await connection.send(json.dumps(message))
            try:
                async for text in connection:
                    event = json.loads(text)
                    self.execution_id = event["execution_id"]
                    yield event["seq"], {"event": event["event"], "data": event["data"]}
            finally:
                # As a network does it: without goodbye.
                connection.transport.abort()

    async def _sse(self, http: httpx.AsyncClient, address: str) -> AsyncIterator[tuple[int, Message]]:
        url = f"{address}/api/v1/"
        headers = self._headers()
        if self.execution_id:
            path, how = f"executions/{self.execution_id}/events", "GET"
            headers["Last-Event-ID"] = str(self._last)
            body = None
        else:
            path, how, body = "tools/rag_search", "POST", {"query": self.question, "stream": True}
        async with aconnect_sse(http, how, url + path, headers=headers, json=body) as source:
            source.response.raise_for_status()
            self.execution_id = source.response.headers["X-Execution-Id"]
            async for event in source.aiter_sse():
                # A ping: httpx-sse takes the blank line behind the comment for an event without data.
                if event.data:
                    yield int(event.id), event.json()

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


@dataclass(frozen=True, slots=True)
class StreamTally:
    """What a storm has shown; times in milliseconds, one of each client."""

    missing: int
    repeated: int
    ends: dict[str, int]
    first_event: list[float]
    added: list[float]


async def storm(addresses: Sequence[str], key: str, streams: int, within_secs: float) -> StreamTally:
    """Let many clients ask, all `within_secs`, and listen to the end."""
    clients = [StreamClient(addresses, key, f"question {number}") for number in range(streams)]
    async with (
        httpx.AsyncClient(timeout=START_SECS, limits=httpx.Limits()) as http,
        asyncio.TaskGroup() as tasks,
    ):
        for number, client in enumerate(clients):
            tasks.create_task(client.listen(http, "websocket" if number % 2 else "sse"))
            await asyncio.sleep(within_secs / streams)
    return tally(clients)


def tally(clients: Sequence[StreamClient]) -> StreamTally:
    """Compare what was heard with what was said."""
    counts = [_compared(client) for client in clients]
    ends = [
        message["event"] for client in clients for _, message in client.heard if message["event"] in TERMINAL
    ]
    return StreamTally(
        missing=sum(missing for missing, _ in counts),
        repeated=sum(repeated for _, repeated in counts),
        ends={end: ends.count(end) for end in sorted(set(ends))},
        first_event=[1000 * (client.first_event_at - client.asked_at) for client in clients],
        added=[1000 * (client.first_text_at - client.asked_at - 2 * WAIT_SECS) for client in clients],
    )


def _compared(client: StreamClient) -> tuple[int, int]:
    """Return how many characters of the text were missing, and how many came again."""
    texts = [(seq, m["data"]["content"]) for seq, m in client.heard if m["event"] == "tool_partial_update"]
    once = dict(texts)
    repeated = sum(len(text) for _, text in texts) - sum(map(len, once.values()))
    said, heard = "".join(pieces(client.question)), "".join(text for _, text in sorted(once.items()))
    wrong = sum(a != b for a, b in zip(said, heard, strict=False))
    return abs(len(said) - len(heard)) + wrong, repeated
