"""A widget of the team's assistant, and its visitors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.test import AsyncClient

from accounts.models import Workspace
from assistants.models import Assistant, Binding, BindingKind
from tests.assistants.agent.asking import make_assistant
from tests.assistants.conversing import call
from tests.conftest import Cast
from tests.search.test_rag_search import events_of

SHOP = "https://shop.example"


@dataclass
class Visitor:
    """Who has a token of a widget."""

    token: str
    session_id: str
    binding_id: UUID

    async def request(
        self, method: str = "GET", path: str = "", body: Any = None, origin: str | None = SHOP
    ) -> Any:
        """Send a request as the widget's script does."""
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Origin": origin} if origin else {})
        sent = "" if body is None else json.dumps(body)
        address = f"/widgets/{self.binding_id}{path}"
        return await AsyncClient().generic(method, address, sent, "application/json", headers=headers)

    async def ask(self, content: str) -> dict[str, Any]:
        """Ask, and return the last event of the stream."""
        reply = await self.request("POST", "/messages", {"content": content})
        assert reply.status_code == 200, reply.content
        events = await events_of(reply)
        assert events[-1]["event"] == "tool_end", events[-1]
        result: dict[str, Any] = events[-1]["data"]
        return result


async def make_widget(people: Cast, name: str = "Guide", origin: str = SHOP, **settings: Any) -> Binding:
    """Store an assistant of the team with a widget, and show the team's documents to external users."""
    assistant: Assistant = await make_assistant(people, name, **settings)
    await Workspace.objects.filter(pk=people.team.pk).aupdate(share_with_external_users=True)
    made: Binding = await sync_to_async(Binding.objects.create)(
        assistant=assistant, kind=BindingKind.WIDGET, origins=[origin]
    )
    return made


async def mint(people: Cast, binding: Binding, name: str = "alice", **body: Any) -> Any:
    """Make a token as the site's own server does."""
    given = {"binding_id": str(binding.pk), "external_user_id": "visitor-1"} | body
    return await call(people, "POST", "auth/token", given, name)


async def visit(people: Cast, binding: Binding, **body: Any) -> Visitor:
    """Return a visitor with a token."""
    made = await mint(people, binding, **body)
    assert made.status_code == 200, made.content
    reply = made.json()
    return Visitor(reply["token"], reply["session_id"], binding.pk)
