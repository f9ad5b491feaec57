"""The hostile clients: each does one thing again and again, and counts what it is answered.

They run in a process of their own, from addresses of their own (127.0.0.2 and up), as different people.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from bench.soak import hostile

HUGE = 300 * 2**20
PIECE = b"\0" * 65536
SLOW_CONNECTIONS = 40
PAUSE_SECS = 0.2
VICTIM = "victim@example.org"
UNREACHED = (httpx.HTTPError, WebSocketException, OSError, asyncio.IncompleteReadError)


@dataclass
class HonestClient:
    """One hostile client: who it is, where it comes from, and what became of what it sent."""

    name: str
    port: int
    key: str
    address: str
    replies: Counter[str] = field(default_factory=Counter)
    """Status codes, or how else an attempt ended, and how often."""

    def http(self) -> httpx.AsyncClient:
        """Return a connection to the server from this client's address."""
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {self.key}"},
            transport=httpx.AsyncHTTPTransport(local_address=self.address),
            timeout=90,
        )

    def count(self, reply: httpx.Response) -> httpx.Response:
        """Count a reply by its status."""
        self.replies[str(reply.status_code)] += 1
        return reply

    async def socket(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a bare connection."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))


Attack = Callable[[HonestClient], Awaitable[None]]


async def hostile_text(client: HonestClient) -> None:
    """Upload a text that is hard on patterns, ask what it answers, and delete it."""
    text = hostile.TEXTS[client.name.partition(": ")[2]]
    async with client.http() as http:
        file = {"files": ("notes.txt", hostile.document(text, random.randrange(10**6)))}  # noqa: S311
        uploaded = client.count(await http.post("/api/v1/documents", files=file))
        client.count(await http.post("/api/v1/tools/rag_search", json={"query": hostile.QUESTION}))
        if uploaded.is_success:
            id = uploaded.json()["documents"][0]["id"]
            client.count(await http.delete(f"/api/v1/documents/{id}"))


async def huge_body(client: HonestClient) -> None:
    """Send a body without end to an address that wants none."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(HUGE // len(PIECE)):
            yield PIECE

    path = random.choice(["/health", "/accounts/login/", "/api/v1/search", "/nowhere"])  # noqa: S311
    async with client.http() as http:
        client.count(await http.post(path, content=pieces()))


async def slow_bodies(client: HonestClient) -> None:
    """Hold connections open with bodies that come a byte a second."""
    head = b"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n"
    await _drip(client, head)


async def slow_heads(client: HonestClient) -> None:
    """Hold connections open with headers that come a byte a second."""
    await _drip(client, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")


async def _drip(client: HonestClient, head: bytes) -> None:
    async def one() -> None:
        began = monotonic()
        _, writer = await client.socket()
        with suppress(ConnectionError):
            writer.write(head)
            while monotonic() < began + 120:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(1)
        client.replies["held open for 120 s" if monotonic() >= began + 120 else "cut off"] += 1
        writer.close()

    await asyncio.gather(*(one() for _ in range(SLOW_CONNECTIONS)), return_exceptions=True)


async def wide_pages(client: HonestClient) -> None:
    """Have a page drawn that takes long, at widths that nobody has asked for before."""
    async with client.http() as http:
        uploaded = await http.post("/api/v1/documents", files={"files": ("page.pdf", hostile.slow_page())})
        if not uploaded.is_success:
            client.count(uploaded)
            return
        id = uploaded.json()["documents"][0]["id"]
        await _read(http, id)
        widths = random.sample(range(3000, 4001), 12)
        await asyncio.gather(*(_draw(client, http, id, width) for width in widths))


async def _read(http: httpx.AsyncClient, id: str) -> None:
    """Wait until a document is read, but not for ever: the queue is full of what others have sent."""
    for _ in range(60):
        reply = await http.get(f"/api/v1/documents/{id}")
        if reply.is_success and reply.json()["page_count"]:
            return
        await asyncio.sleep(1)


async def _draw(client: HonestClient, http: httpx.AsyncClient, id: str, width: int) -> None:
    client.count(await http.get(f"/api/v1/documents/{id}/pages/1", params={"width": width}))


async def cut_sockets(client: HonestClient) -> None:
    """Ask over a websocket and go without goodbye, at a random moment."""
    headers = {"Authorization": f"Bearer {client.key}"}
    address = f"ws://127.0.0.1:{client.port}/ws/tools/rag_search"
    connection = await connect(address, additional_headers=headers, local_addr=(client.address, 0))
    await connection.send(json.dumps({"query": hostile.QUESTION}))
    await asyncio.sleep(random.random())  # noqa: S311
    connection.transport.abort()
    client.replies["cut"] += 1


async def many_sockets(client: HonestClient) -> None:
    """Open sockets that are never used."""
    headers = {"Authorization": f"Bearer {client.key}"}
    address = f"ws://127.0.0.1:{client.port}/ws/documents"
    opened = []
    for _ in range(100):
        connection = await connect(address, additional_headers=headers, local_addr=(client.address, 0))
        opened.append(connection)
        client.replies["opened"] += 1
    await asyncio.sleep(5)
    for connection in opened:
        client.replies[f"closed {connection.close_code}"] += connection.close_code is not None
        connection.transport.abort()


async def wrong_keys(client: HonestClient) -> None:
    """Guess keys."""
    async with client.http() as http:
        for _ in range(20):
            guess = {"Authorization": f"Bearer kb_{random.randbytes(24).hex()}"}  # noqa: S311
            client.count(await http.get("/api/v1/me", headers=guess))


async def wrong_passwords(client: HonestClient) -> None:
    """Guess somebody's password."""
    async with client.http() as http:
        del http.headers["Authorization"]
        form = await http.get("/accounts/login/")
        token = form.cookies.get("csrftoken", "")
        guess = {"login": VICTIM, "password": "wrong", "csrfmiddlewaretoken": token}
        for _ in range(10):
            client.count(await http.post("/accounts/login/", data=guess))


async def slow_addresses(client: HonestClient) -> None:
    """Have pages fetched that never end."""
    site = client.name.partition(": ")[2]
    async with client.http() as http:
        urls = [f"http://127.0.0.1:{site}/{random.randbytes(8).hex()}" for _ in range(20)]  # noqa: S311
        reply = client.count(await http.post("/api/v1/documents", files=[("urls", (None, u)) for u in urls]))
        await asyncio.sleep(20)
        if reply.is_success:
            for document in reply.json()["documents"]:
                client.count(await http.delete(f"/api/v1/documents/{document['id']}"))


async def strange_requests(client: HonestClient) -> None:
    """Send filters without end, nested JSON and crafted cursors."""
    wide = {"query": "x", "filters": {"metadata": {"a": [str(n) for n in range(100_000)]}}}
    deep = '{"query": ' + "[" * 50_000 + "]" * 50_000 + "}"
    async with client.http() as http:
        client.count(await http.post("/api/v1/search", json=wide))
        client.count(
            await http.post("/api/v1/search", content=deep, headers={"Content-Type": "application/json"})
        )
        for cursor in ("cD1hYmM=", "cD1pbmZpbml0eQ==", "x" * 5000):
            client.count(await http.get("/api/v1/documents", params={"cursor": cursor}))


async def again_and_again(client: HonestClient, attack: Attack, until: float) -> None:
    """Attack until the time is over; what fails is counted, and tried again."""
    while monotonic() < until:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.1, until - monotonic())):
                try:
                    await attack(client)
                except UNREACHED as failure:
                    client.replies[type(failure).__name__] += 1
        await asyncio.sleep(PAUSE_SECS)


def clients(port: int, keys: list[str], site: int) -> list[tuple[HonestClient, Attack]]:
    """Return the twenty clients; each key is of another person, several may share one address."""
    attacks: list[tuple[str, Attack]] = [
        *((f"hostile text: {name}", hostile_text) for name in hostile.TEXTS),
        *(("huge bodies", huge_body) for _ in range(2)),
        ("slow bodies", slow_bodies),
        ("slow headers", slow_heads),
        *(("wide pages", wide_pages) for _ in range(2)),
        ("cut sockets", cut_sockets),
        ("many sockets", many_sockets),
        ("wrong keys", wrong_keys),
        ("wrong passwords", wrong_passwords),
        (f"slow addresses: {site}", slow_addresses),
        ("strange requests", strange_requests),
    ]
    return [
        (HonestClient(name, port, keys[n % len(keys)], f"127.0.0.{2 + n}"), attack)
        for n, (name, attack) in enumerate(attacks)
    ]


def attack(port: int, keys: list[str], site: int, secs: float) -> dict[str, Counter[str]]:
    """Let all clients attack at once for some seconds; return what each kind was answered.

    Elsewhere they would have processors of their own: here they take those that the server leaves.
    """
    os.nice(10)
    return asyncio.run(_attack(clients(port, keys, site), site, secs))


async def _attack(
    everybody: list[tuple[HonestClient, Attack]], site: int, secs: float
) -> dict[str, Counter[str]]:
    serving = asyncio.create_task(hostile.endless_site(site))
    until = monotonic() + secs
    await asyncio.gather(*(again_and_again(client, attack, until) for client, attack in everybody))
    serving.cancel()
    replies: dict[str, Counter[str]] = {}
    for client, _ in everybody:
        replies.setdefault(client.name.partition(":")[0], Counter()).update(client.replies)
    return replies
