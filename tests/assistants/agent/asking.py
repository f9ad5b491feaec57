"""Asking the agent as programs do."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async

from assistants.models import Assistant, AssistantVersion, Visibility
from runs.models import Execution
from tests.conftest import Cast
from tests.search.test_rag_search import events_of
from tests.search.web.calling import post
from tests.testing.chat_models import Turn

SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
HOW_MUCH = "How much did the solar farm in Almería produce in 2023?"
DONE = Turn(words=("DONE",))


def calls(*wanted: tuple[str, Any]) -> Turn:
    """Return the turn of a model that asks for calls."""
    return Turn(calls=wanted)


def says(*words: str) -> Turn:
    """Return the turn of a model that writes."""
    return Turn(words=words)


async def ask(people: Cast, query: str = HOW_MUCH, name: str = "alice", **body: Any) -> dict[str, Any]:
    """Return the result of the agent."""
    reply = await post(people, "tools/agent", {"query": query} | body, name)
    assert reply.status_code == 200, reply.content
    result: dict[str, Any] = reply.json()
    return result


async def streamed(people: Cast, query: str = HOW_MUCH, **body: Any) -> list[dict[str, Any]]:
    """Return the events of the agent."""
    return await events_of(await post(people, "tools/agent", {"query": query, "stream": True} | body))


def updates(events: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return the data of the updates with an output key."""
    return [event["data"] for event in events if event["data"].get("output_key") == key]


@sync_to_async
def make_assistant(people: Cast, name: str = "Guide", **settings: Any) -> Assistant:
    """Store an assistant of the team's workspace."""
    made: Assistant = Assistant.unscoped.create(
        workspace=people.team, user=people.alice, name=name, visibility=Visibility.WORKSPACE
    )
    AssistantVersion.objects.create(assistant=made, number=1, name=name, settings=settings)
    return made


async def execution_of(result: dict[str, Any]) -> Execution:
    """Return the execution of a result."""
    return await Execution.unscoped.aget(pk=result["execution_id"])
