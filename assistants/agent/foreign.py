"""The tools of other people's servers as the agent calls them.

What a server says is data of strangers, as a page is: it is fenced where a planner reads it, and may be cited
as what it is, never as a document. What documents say does not leave for a server, nor what one server says
for another or for the web.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.audit.recording import record
from accounts.models import AuditAction
from assistants.agent.outcome import AgentTool, CallOutcome, CallSteps, Gathering, rendered
from assistants.agent.request import AgentRequest
from assistants.configuration.resolving import ConfiguredAssistant
from assistants.models import ToolServer
from assistants.tool_servers.client import ServerAddress, call_result
from assistants.tool_servers.managing import address_of_server
from assistants.tool_servers.offers import OfferedTool, stored_offers
from core.errors import Conflict, ValidationError
from core.llm.base import ChatFunction
from core.threads import in_database
from runs.events import ToolUpdate
from search.contexts import context_of_page
from search.web.events import RankedSource, Sources

MOST_TOOLS = 30
"""Of all servers of an assistant."""
MAX_ARGUMENTS = 8000
"""Characters of a call's arguments."""
SNIPPET_CHARS = 300
SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class _AllowedServer:
    """A server as a run may call it."""

    id: UUID
    workspace_id: UUID
    name: str
    address: ServerAddress


def foreign_tools(found: ConfiguredAssistant) -> list[AgentTool]:
    """Return the tools that admins have allowed to an assistant; it asks the database."""
    if not settings.TOOL_SERVERS:
        return []
    # Who asks sees the assistant, and need not administer its workspace.
    servers = ToolServer.unscoped.filter(
        workspace=found.workspace_id, assistant_ids__contains=[found.id], is_enabled=True
    )
    return [tool for server in servers.order_by("name") for tool in _tools_of(server)][:MOST_TOOLS]


def _tools_of(server: ToolServer) -> Iterator[AgentTool]:
    try:
        allowed = _AllowedServer(server.pk, server.workspace_id, server.name, address_of_server(server))
    except Conflict:
        # Its admins are told; the run goes on without it.
        return
    for offered in stored_offers(server.offered):
        if offered.name in server.tools:
            yield AgentTool(
                ChatFunction(
                    f"{server.name}{SEPARATOR}{offered.name}", offered.description, offered.input_schema
                ),
                partial(_call, allowed, offered),
                "",
                is_foreign=True,
            )


async def _call(
    server: _AllowedServer, tool: OfferedTool, gathering: Gathering, arguments: object
) -> CallSteps:
    asked = gathering.asked
    assert isinstance(arguments, dict)
    if len(json.dumps(arguments)) > MAX_ARGUMENTS:
        raise ValidationError("The arguments are too long.")
    own = tool.names()
    for text in _texts_in(arguments):
        if text not in own:
            gathering.guard.check_argument(server.name, text)
    outcome = "failed"
    try:
        result = await call_result(server.address, tool.name, arguments)
        # The planner reads its words as well where it says that it has failed.
        gathering.guard.learn_server(server.name, [result.text])
        result.require_success()
        outcome = "completed"
    finally:
        await in_database(_record, asked, server, tool, outcome)
    gathering.clock.mark("tool_servers")
    title = f"{server.name}: {tool.name}"
    sources = await add_said(gathering, f"locus://tools/{server.name}/{tool.name}", title, result.text)
    yield ToolUpdate(data=Sources(sources=sources))
    shown = rendered([gathering.book.contexts[each.rank - 1] for each in sources])
    yield CallOutcome({"tool": title, "sources": shown}, len(shown))


async def add_said(gathering: Gathering, url: str, title: str, text: str) -> list[RankedSource]:
    """Number what a tool of others has said among the sources, and return it; blank text is none."""
    if not text.strip():
        return []
    context = await asyncio.to_thread(
        context_of_page, 0, url=url, title=title, text=text, language=None, score=None
    )
    source = RankedSource(rank=0, title=title, url=url, snippet=text[:SNIPPET_CHARS], rerank_score=None)
    return gathering.book.add_pages([(source, context)])


def _texts_in(value: object) -> Iterator[str]:
    """Yield every word that arguments hold, names and numbers included."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _record(asked: AgentRequest, server: _AllowedServer, tool: OfferedTool, outcome: str) -> None:
    details: dict[str, Any] = {
        "tool": tool.name,
        "server": server.name,
        "outcome": outcome,
        "execution": asked.run.execution_id,
    }
    record(
        AuditAction.TOOL_CALLED,
        asked.principal,
        workspace_id=server.workspace_id,
        target=("tool_server", server.id),
        **details,
    )
