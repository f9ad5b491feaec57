"""Requests to conversations, as programs make them."""

from __future__ import annotations

import json
from typing import Any

from django.test import AsyncClient

from tests.conftest import Cast


async def call(
    people: Cast, method: str, path: str, body: Any = None, name: str = "alice", **headers: str
) -> Any:
    """Send a request to `/api/v1/…` as one of the cast."""
    sent = "" if body is None else json.dumps(body)
    return await AsyncClient().generic(
        method, f"/api/v1/{path}", sent, "application/json", headers=people.headers(name) | headers
    )


async def begin(people: Cast, name: str = "alice", **body: Any) -> dict[str, Any]:
    """Begin a conversation in the team's workspace, and return it."""
    response = await call(people, "POST", "sessions", {"workspace_id": str(people.team.pk)} | body, name)
    assert response.status_code == 201, response.content
    session: dict[str, Any] = response.json()
    return session


async def say(people: Cast, session: dict[str, Any], content: str | None = None, **body: Any) -> Any:
    """Ask within a conversation, and return the result."""
    given = body if content is None else {"content": content} | body
    response = await call(people, "POST", f"sessions/{session['id']}/messages", given)
    assert response.status_code == 200, response.content
    return response.json()


async def thread(people: Cast, session: dict[str, Any], name: str = "alice") -> list[dict[str, Any]]:
    """Return the messages of a conversation."""
    response = await call(people, "GET", f"sessions/{session['id']}/messages", name=name)
    assert response.status_code == 200, response.content
    messages: list[dict[str, Any]] = response.json()["results"]
    return messages
