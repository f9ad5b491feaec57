"""The adversary at a shared conversation: readers read it, and reach nothing else by it.

Every place of the API that takes the id of a session, message or execution is tried with those of the shared
conversation: by members, who may read five of them, and by others, for whom nothing of it exists.
"""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pytest import Subtests

from accounts.models import Session
from assistants.models import ChatAnswer, ChatMessage
from runs.models import Execution, ExecutionEvent, ExecutionStatus
from tests.adversary.requests import Answer, ask, own_ids, unknown
from tests.adversary.test_api import PLACES
from tests.adversary.world import SECRET, World, lost_rows, rows
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db(transaction=True)
READABLE = {
    "GET /api/v1/sessions/{id} path id",
    "GET /api/v1/sessions/{id}/messages path id",
    "GET /api/v1/sessions/{id}/export path id",
    "GET /api/v1/executions/{id} path id",
    "GET /api/v1/executions/{id}/events path id",
}
SHARED = [place for place in PLACES if place.kind in ("session", "message", "execution")]


def share(world: World) -> dict[str, str]:
    """Share a conversation of alice's in the team: an answer, and a document attached to it."""
    owner: dict[str, Any] = {"user": world.people["alice"], "workspace": world.team}
    session = Session.unscoped.create(title="Plums", shared=True, **owner)
    message = ChatMessage.unscoped.create(session=session, content="Which jam?", **owner)
    attached = indexed_document(world.team, f"{SECRET} jam.", name=f"{SECRET}.pdf", session=session)
    result = {"response": f"{SECRET} jam.", "asked": f"Which {SECRET}?", "contexts": [], "sources": []}
    execution = Execution.unscoped.create(
        tool="chat",
        session=session,
        inputs={"message_id": str(message.pk)},
        status=ExecutionStatus.COMPLETED,
        read_documents=[attached.pk],
        result=result,
        finished_at=timezone.now(),
        last_seq=1,
        **owner,
    )
    ExecutionEvent.objects.create(execution=execution, seq=1, event="tool_end", data=result)
    ChatAnswer.objects.create(execution=execution, message=message)
    return {"session": str(session.pk), "message": str(message.pk), "execution": execution.pk}


def test_readable_places_exist() -> None:
    assert {str(place) for place in SHARED} >= READABLE


@pytest.mark.parametrize("name", ["bob", pytest.param("erin", marks=pytest.mark.slow("adversary"))])
async def test_members_only_read(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    ids = await sync_to_async(share)(world)
    reader = await sync_to_async(world.attacker)(name)
    own = own_ids(reader, world.things) | {"sessions": ids["session"]}
    before = await sync_to_async(rows)()
    for place in SHARED:
        answer = await Answer.of(await ask(reader, place, ids[str(place.kind)], own), *ids.values())
        with subtests.test(place=str(place)):
            # What the answer has read stays hidden, whoever shares the conversation.
            assert SECRET not in answer.body
            if str(place) in READABLE:
                assert answer.status == 200
            elif place.method == "GET" and place.name == ("message_id",):
                assert answer.status == 200, "the export of a branch"
            else:
                assert answer.status in (400, 403, 404), answer
    assert not lost_rows(before, await sync_to_async(rows)())


@pytest.mark.parametrize("name", ["charlie", "bob as x", "narrowed key", "alice as x"])
async def test_for_others_it_does_not_exist(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    ids = await sync_to_async(share)(world)
    stranger = await sync_to_async(world.attacker)(name)
    own = own_ids(stranger, world.things)
    for place in SHARED:
        id, nobodys = ids[str(place.kind)], unknown(str(place.kind))
        expected = await Answer.of(await ask(stranger, place, nobodys, own), nobodys)
        answer = await Answer.of(await ask(stranger, place, id, own), id)
        with subtests.test(place=str(place)):
            assert answer.status in (400, 403, 404)
            assert answer == expected
