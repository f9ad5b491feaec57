"""People who upload, ask, look and delete, and hold the installation to what it has confirmed."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from httpx_sse import aconnect_sse
from websockets.exceptions import WebSocketException

from tests.testing.streams import Message, StreamClient

NAMES = ("Ada Kerrigan", "Bruno Oliveira", "Chiara Moretti", "Dmitri Sokolov", "Eszter Varga")
LONGEST_PART = 12
PAUSE_SECS = 1.0
PATIENCE_SECS = 240.0
"""As long as nothing may stay unanswered, whatever is away."""
AFTER_CHANGE_SECS = 15.0
"""As long as a list may lack what another host has stored, where the cache that says so was killed."""
Replay = Callable[[httpx.AsyncClient], Awaitable[list[tuple[int, Message]]]]
LOST = (httpx.HTTPError, OSError, WebSocketException, KeyError, ValueError)
"""What a client sees of a server that is away, or has not yet begun."""


class PatientClient(StreamClient):
    """Asks and listens again and again, whichever server is away."""

    def __init__(self, addresses: Sequence[str], key: str, question: str, chance: random.Random) -> None:
        super().__init__(addresses, key, question)
        self._chance = chance

    async def hear_out(self, http: httpx.AsyncClient) -> None:
        """Ask, be cut off at random, and listen to the end; raise `TimeoutError` if there is none."""
        async with asyncio.timeout(PATIENCE_SECS):
            while not self.is_over():
                address = self._chance.choice(self.addresses)
                events = self._socket(address) if self._chance.random() < 0.5 else self._sse(http, address)
                try:
                    await self._part(
                        events, self._chance.choice([None, self._chance.randint(1, LONGEST_PART)])
                    )
                except LOST:
                    await asyncio.sleep(PAUSE_SECS)

    async def replay(self, http: httpx.AsyncClient) -> list[tuple[int, Message]]:
        """Return all events as they are stored."""
        url = f"{self._chance.choice(self.addresses)}/api/v1/executions/{self.execution_id}/events"
        async with aconnect_sse(http, "GET", url, headers=self._headers()) as source:
            source.response.raise_for_status()
            return [(int(event.id), event.json()) async for event in source.aiter_sse() if event.data]


@dataclass
class Person:
    """Somebody with a workspace of their own. `broken` has each promise that was not kept, in words."""

    addresses: Sequence[str]
    key: str
    number: int
    broken: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    kept: dict[str, bytes] = field(default_factory=dict)
    """By the id of a document, what it says."""
    deleted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.number)  # noqa: S311

    async def live(self, enough: asyncio.Event, pause_secs: float) -> None:
        """Do one thing after the other until it is enough; pauses are `pause_secs` on average."""
        acts = (self.upload, self.upload, self.ask, self.ask, self.ask, self.look, self.delete)
        headers = {"Authorization": f"Bearer {self.key}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            while not enough.is_set():
                act = self._chance.choice(acts)
                try:
                    await act(http)
                    self.done[act.__name__] += 1
                except TimeoutError:
                    self.broken.append(f"{act.__name__}: nothing within {PATIENCE_SECS:.0f} s")
                await asyncio.sleep(self._chance.expovariate(1 / pause_secs))

    # --- What people do ------------------------------------------------------------------------------------

    async def upload(self, http: httpx.AsyncClient) -> None:
        """Upload a text until that is confirmed."""
        number = len(self.kept) + len(self.deleted)
        keeper = self._chance.choice(NAMES)
        text = f"The keeper of lighthouse {self.number}-{number} is {keeper}. It has {number} lamps.".encode()
        file = {"files": (f"lighthouse-{self.number}-{number}.txt", text)}
        reply = await self._served(http, "POST", "documents", files=file)
        if reply.status_code not in (200, 202):
            self.broken.append(f"upload: {reply.status_code} {reply.text[:200]}")
            return
        [document] = reply.json()["documents"]
        self.kept[document["id"]] = text

    async def ask(self, http: httpx.AsyncClient) -> None:
        """Ask, and compare what was heard with what is stored."""
        number = self._chance.randrange(len(self.kept) + len(self.deleted) + 1)
        question = f"Who is the keeper of lighthouse {self.number}-{number}?"
        client = PatientClient(self.addresses, self.key, question, self._chance)
        await client.hear_out(http)
        end = client.heard[-1][1]
        self.done[end["event"] if end["event"] == "tool_end" else f"error {end['data']['code']}"] += 1
        stored = await self._until(client.replay, http)
        if client.heard != stored:
            heard, said = [seq for seq, _ in client.heard], [seq for seq, _ in stored]
            self.broken.append(f"ask: heard {heard} of {said} in {client.execution_id}")

    async def look(self, http: httpx.AsyncClient) -> None:
        """List one's documents: all that were kept are there, none that was deleted."""
        async with asyncio.timeout(PATIENCE_SECS):
            missing, left = await self._differences(http)
            if missing or left:
                self.done["look, late"] += 1
                await asyncio.sleep(AFTER_CHANGE_SECS)
                missing, left = await self._differences(http)
        if missing or left:
            self.broken.append(f"look: {sorted(missing)} missing, {sorted(left)} still there")

    async def delete(self, http: httpx.AsyncClient) -> None:
        """Delete a document."""
        if not self.kept:
            return
        id = self._chance.choice(sorted(self.kept))
        reply = await self._served(http, "DELETE", f"documents/{id}")
        # A deletion whose reply was lost is made again, and finds nothing.
        if reply.status_code not in (200, 404):
            self.broken.append(f"delete: {reply.status_code} {reply.text[:200]}")
            return
        del self.kept[id]
        self.deleted.add(id)

    # --- In the end ----------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """When nothing fails any more: each document that is kept is read, found, and whole."""
        headers = {"Authorization": f"Bearer {self.key}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            await self.look(http)
            for id, text in self.kept.items():
                document = (await self._served(http, "GET", f"documents/{id}")).json()
                file = await self._served(http, "GET", f"documents/{id}/file")
                if document.get("status") != "ready" or file.content != text:
                    self.broken.append(f"{id}: {document.get('status')}, {len(file.content)} bytes")

    # --- How it is asked -----------------------------------------------------------------------------------

    async def _differences(self, http: httpx.AsyncClient) -> tuple[set[str], set[str]]:
        found: set[str] = set()
        path: str | None = "documents?limit=100"
        while path:
            page = (await self._served(http, "GET", path)).json()
            found |= {each["id"] for each in page["results"]}
            path = page.get("next") and page["next"].partition("/api/v1/")[2]
        return self.kept.keys() - found, self.deleted & found

    async def _served(self, http: httpx.AsyncClient, method: str, path: str, **more: Any) -> httpx.Response:
        """Return the first reply of any server that is no failure of the server."""
        async with asyncio.timeout(PATIENCE_SECS):
            while True:
                url = f"{self._chance.choice(self.addresses)}/api/v1/{path}"
                try:
                    reply = await http.request(method, url, **more)
                    if reply.status_code < 500 and reply.status_code != httpx.codes.TOO_MANY_REQUESTS:
                        return reply
                    self.done[f"refused with {reply.status_code}"] += 1
                    if reply.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
                        self.done[f"{method} {path.partition('/')[0]}: {reply.text[:200]}"] += 1
                except httpx.HTTPError:
                    self.done["not reached"] += 1
                await asyncio.sleep(PAUSE_SECS)

    async def _until(self, replay: Replay, http: httpx.AsyncClient) -> list[tuple[int, Message]]:
        async with asyncio.timeout(PATIENCE_SECS):
            while True:
                try:
                    return await replay(http)
                except httpx.HTTPError:
                    await asyncio.sleep(PAUSE_SECS)


async def crowd(people: Sequence[Person], secs: float, pause_secs: float) -> None:
    """Let all of them live for some seconds."""
    enough = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for person in people:
            tasks.create_task(person.live(enough, pause_secs))
        await asyncio.sleep(secs)
        enough.set()


async def settled(people: Sequence[Person]) -> None:
    """Let all of them look a last time."""
    for person in people:
        await person.settle()
