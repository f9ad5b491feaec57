"""Asking `web_search` and `web_fetch` as programs do, through the real ASGI application."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from django.db import connection
from django.test import AsyncClient

from tests.conftest import Cast
from tests.search.test_rag_search import events_of
from tests.testing.search_engines import WebPage

QUERY = "When was the harbour lighthouse built?"
BUILT = WebPage(
    "The harbour lighthouse", "https://light.example/history", "The harbour lighthouse was built in 1893."
)
OTHERS = [
    WebPage("Tea & cakes", "https://tea.example/menu", "Tea is served from noon until six."),
    WebPage("Ferries", "https://ferry.example/", "Ferries leave the harbour every hour."),
]

CITATION = re.compile(r'<web_citation url="([^"]*)" title="([^"]*)">\[(\d+)\]</web_citation>')


async def change(people: Cast, **web_search: Any) -> None:
    """Change the settings of the team's workspace."""
    await _patch(people, f"workspaces/{people.team.pk}/settings", {"web_search": web_search})


async def prefer(people: Cast, **rag: Any) -> None:
    """Change alice's preferences."""
    await _patch(people, "preferences", {"rag": rag})


async def ask(people: Cast, name: str = "alice", query: str = QUERY, **inputs: Any) -> Any:
    """Return the reply of `web_search`."""
    return await post(people, "tools/web_search", {"query": query} | inputs, name)


async def streamed(people: Cast, **inputs: Any) -> list[dict[str, Any]]:
    """Return the events of `web_search`."""
    return await events_of(await ask(people, stream=True, **inputs))


async def post(people: Cast, path: str, body: dict[str, Any], name: str = "alice") -> Any:
    """Return the reply of a tool for the team's workspace."""
    return await AsyncClient().post(
        f"/api/v1/{path}",
        json.dumps({"workspace_id": str(people.team.pk)} | body),
        content_type="application/json",
        headers=people.headers(name),
    )


async def details(people: Cast, execution_id: str, name: str = "alice") -> Any:
    """Return the reply that tells of an execution."""
    return await AsyncClient().get(f"/api/v1/executions/{execution_id}", headers=people.headers(name))


def code_of(reply: Any) -> tuple[int, str]:
    """Return status and code of an error."""
    return reply.status_code, reply.json()["error"]["code"]


async def _patch(people: Cast, path: str, body: dict[str, Any]) -> None:
    reply = await AsyncClient().patch(
        f"/api/v1/{path}",
        json.dumps(body),
        content_type="application/json",
        headers=people.headers("alice"),
    )
    assert reply.status_code == 200, reply.content


def kept_rows() -> list[tuple[str, str, datetime]]:
    """Return key, pickled value and end of what the cache of searches keeps."""
    with connection.cursor() as cursor:
        # The last error of each engine is kept there as well (core/last_errors.py).
        cursor.execute(
            "SELECT cache_key, value, expires FROM locus_cache WHERE cache_key NOT LIKE '%:last_error:%'"
        )
        rows: list[tuple[str, str, datetime]] = cursor.fetchall()
        return rows
