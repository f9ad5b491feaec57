"""How soon does a right that ends end what it opened? `python -m bench.revocation [--times 5]`

Starts the real web server on a scratch database. Each time somebody opens every kind of stream and websocket.
Then the key, token, login, membership or account that opened them ends. Prints, for each way and connection,
the longest wait for `unauthenticated`. The API promises five seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
from httpx_sse import EventSource
from websockets.asyncio.client import connect

from bench.streams import wait_until_quiet
from bench.upload import server
from tests.testing.scratch import scratch_database

if TYPE_CHECKING:
    from accounts.models import ApiKey, Session, User, Workspace
    from kb.models import Document

SETTLE_SECS = 3.0
"""A socket is accepted before the server knows who is there: only then can a right end."""
LOOKS_SECS = 2.0
"""The server looks at rights this often: a right ends at any moment between two looks."""
TOKEN_SECS = 20
PATIENCE_SECS = 60
ACCEPTED = "application/json, text/event-stream"
QUESTION = "Who kept the light?"
Json = dict[str, Any]
OTHER_PROTOCOLS: dict[str, Json] = {
    "/v1/responses": {"model": "locus", "input": QUESTION, "stream": True},
    "/v1/chat/completions": {
        "model": "locus",
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
    },
    "/mcp": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "rag_search",
            "arguments": {"query": QUESTION},
            "_meta": {"progressToken": 1},
        },
    },
}
"""What is asked there for an answer as a stream."""
Connection = Callable[[asyncio.Barrier], Coroutine[None, None, float]]
"""Opens it, waits until all are open, and returns when it said that the right has ended."""
Waits = dict[str, float]
"""By connection, the seconds until it ended."""


@dataclass(frozen=True)
class Person:
    """A member of a workspace, with a document that is being read, and a conversation."""

    user: User
    team: Workspace
    document: Document
    session: Session
    key: ApiKey
    secret: str

    @classmethod
    def new(cls) -> Person:
        """Add one."""
        from accounts.access.keys import create_key
        from accounts.models import Membership, Session, User, Workspace
        from accounts.roles import Role
        from kb.models import Document, Stage, Status

        user = User.objects.create_user(f"{uuid4().hex}@example.org", "a long password")
        team = Workspace.create_for(User.objects.create_user(f"{uuid4().hex}@example.org"), name="Team")
        Membership.objects.create(workspace=team, user=user, role=Role.VIEWER)
        document = Document.unscoped.create(
            workspace=team,
            name="long.pdf",
            size=1,
            sha256="0" * 64,
            identity=uuid4().hex,
            status=Status.EXTRACTING,
            stage=Stage.EXTRACTING,
        )
        key, secret = create_key(user, "bench")
        session = Session.unscoped.create(user=user, workspace=team)
        return cls(user, team, document, session, key, secret)

    def token(self, secs: int) -> str:
        """Return a token of the key."""
        from django.utils import timezone

        from accounts.access.identity import principal_of_key
        from accounts.access.tokens import make_token

        return make_token(principal_of_key(self.key), timezone.now() + timedelta(seconds=secs))

    def login(self) -> str:
        """Log in, and return the cookie."""
        from django.test import Client

        client = Client()
        client.force_login(self.user)
        return f"sessionid={client.cookies['sessionid'].value}"


HeadersOf = Callable[[Person], dict[str, str]]
End = Callable[[Person], object] | None


def ways() -> dict[str, tuple[HeadersOf, End]]:
    """Return by name what opens the connections, and what ends the right; None waits for the token's end."""
    from django.contrib.sessions.models import Session as Login

    from accounts.models import ApiKey, Membership, User

    def by_key(person: Person) -> dict[str, str]:
        return {"Authorization": f"Bearer {person.secret}"}

    def by_token(secs: int) -> Callable[[Person], dict[str, str]]:
        return lambda person: {"Authorization": f"Bearer {person.token(secs)}"}

    def by_login(person: Person) -> dict[str, str]:
        return {"Cookie": person.login()}

    def end_membership(person: Person) -> object:
        return Membership.objects.filter(user=person.user, workspace=person.team).delete()

    def revoke(person: Person) -> object:
        return ApiKey.objects.filter(pk=person.key.pk).delete()

    def deactivate(person: Person) -> object:
        return User.objects.filter(pk=person.user.pk).update(is_active=False)

    return {
        "key revoked": (by_key, revoke),
        "key of a token revoked": (by_token(600), revoke),
        "token expired": (by_token(TOKEN_SECS), None),
        "login ended": (by_login, lambda _: Login.objects.all().delete()),
        "membership ended": (by_login, end_membership),
        "account deactivated": (by_key, deactivate),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    os.environ.setdefault("SCRIPT_PIECES", "100000")
    with scratch_database(), server("tests.testing.scripted:application") as (port, process):
        wait_until_quiet(process)
        for name, (headers_of, end) in ways().items():
            longest: Waits = {}
            for _ in range(times):
                person = Person.new()
                waits = asyncio.run(_once(port, person, headers_of(person), end))
                longest = {each: max(secs, longest.get(each, secs)) for each, secs in waits.items()}
            print(f"{name}, longest of {times}:")
            for connection, secs in longest.items():
                print(f"  {connection:<24} {secs:6.2f} s", flush=True)


async def _once(port: int, person: Person, headers: dict[str, str], end: End) -> Waits:
    """Open everything, end the right, and return the seconds until each connection said so."""
    from core.threads import in_database

    began = perf_counter()
    async with asyncio.timeout(PATIENCE_SECS), asyncio.TaskGroup() as group:
        connections = _connections(port, person, headers)
        are_open = asyncio.Barrier(len(connections) + 1)
        ends = {name: group.create_task(each(are_open)) for name, each in connections.items()}
        await are_open.wait()
        await asyncio.sleep(SETTLE_SECS + random.uniform(0, LOOKS_SECS))  # noqa: S311
        if end is not None:
            await in_database(end, person)
            ended = perf_counter()
        else:
            ended = began + TOKEN_SECS
    return {name: each.result() - ended for name, each in ends.items()}


def _connections(port: int, person: Person, headers: dict[str, str]) -> dict[str, Connection]:
    """Return what somebody may have open: with a login, nothing of other people's protocols."""
    host = f"http://127.0.0.1:{port}"
    question = {"query": QUESTION, "workspace_id": str(person.team.pk)}
    is_login = "Cookie" in headers
    if is_login:
        headers = headers | {"Origin": host}
    answers: dict[str, Json] = {"/api/v1/tools/rag_search": question | {"stream": True}}
    if not is_login:
        answers |= OTHER_PROTOCOLS
    sockets = {
        "tools/rag_search": json.dumps(question),
        f"documents?workspace={person.team.pk}": "",
        f"sessions/{person.session.pk}": "",
        "notifications": "",
    }
    return {
        **{path: partial(_stream, host + path, headers, body) for path, body in answers.items()},
        "document events": partial(
            _stream, f"{host}/api/v1/documents/{person.document.pk}/events", headers, None
        ),
        **{
            "/ws/" + re.split(r"[/?]", path)[0]: partial(
                _socket, f"{host.replace('http', 'ws', 1)}/ws/{path}", headers, message
            )
            for path, message in sockets.items()
        },
    }


async def _stream(
    address: str, headers: dict[str, str], body: Json | None, are_open: asyncio.Barrier
) -> float:
    """Follow a stream until it says that the right has ended, and return when that was."""
    async with httpx.AsyncClient(timeout=PATIENCE_SECS) as http:
        if "Cookie" in headers and body is not None:
            headers = headers | _csrf(headers["Cookie"])
        method = "POST" if body is not None else "GET"
        headers = headers | {"Accept": ACCEPTED}
        async with http.stream(method, address, headers=headers, json=body) as response:
            response.raise_for_status()
            await are_open.wait()
            async for event in EventSource(response).aiter_sse():
                if _says_so(event.data):
                    return perf_counter()
    raise RuntimeError(f"{address} ended without a word")


def _csrf(cookie: str) -> dict[str, str]:
    """Return the headers that a page adds to a request that changes something."""
    token = "c" * 32
    return {"Cookie": f"{cookie}; csrftoken={token}", "X-CSRFToken": token}


async def _socket(address: str, headers: dict[str, str], message: str, are_open: asyncio.Barrier) -> float:
    """Listen until the socket says that the right has ended, and return when that was."""
    async with connect(address, additional_headers=headers) as connection:
        if message:
            await connection.send(message)
        await are_open.wait()
        async for text in connection:
            if _says_so(str(text)):
                return perf_counter()
    raise RuntimeError(f"{address} ended without a word")


def _says_so(text: str) -> bool:
    return "unauthenticated" in text


if __name__ == "__main__":
    main()
