"""Assistants in archives of workspaces: they come back with versions and bindings, and open no door."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async

from accounts.models import ApiKey, Session, Workspace
from assistants.models import Assistant, Binding, BindingKind, Visibility
from kb.models import Document
from runs.archives.transfers import run_transfer
from runs.models import TransferStatus, WorkspaceTransfer
from tests.assistants.agent.asking import make_assistant
from tests.assistants.conversing import begin, call, say
from tests.conftest import Cast
from tests.runs.test_archives import export, imported, send

pytestmark = pytest.mark.django_db(transaction=True)
HOW_MUCH = "How much did the solar farm produce in 2023?"


@pytest.fixture
async def guide(people: Cast, documents: dict[str, Document]) -> Assistant:
    """Make an assistant with two versions, two bindings and a conversation."""
    solar = documents["solar"]
    scope = {"document_ids": [str(solar.pk)], "workspace_ids": [str(people.team.pk)]}
    made: Assistant = await make_assistant(people, model="gone", instructions="First")
    settings = {"instructions": "Second", "scope": scope}
    await call(people, "PATCH", f"assistants/{made.pk}", {"settings": settings})
    key = await ApiKey.objects.aget(user=people.alice)
    personal = await sync_to_async(lambda: people.alice.personal_workspace.pk)()
    for kind, values in (
        (BindingKind.WIDGET, {"origins": ["https://a.example"], "overrides": {"instructions": "Kind"}}),
        (BindingKind.API_KEY, {"key": key}),
        (BindingKind.MCP, {"overrides": {"scope": {"workspace_ids": [str(personal)]}}}),
    ):
        await Binding.objects.acreate(assistant=made, kind=kind, **values)
    session = await begin(people, assistant_id=str(made.pk))
    await say(people, session, HOW_MUCH)
    return made


async def test_an_archive_brings_it_back(people: Cast, guide: Assistant) -> None:
    archive = await sync_to_async(export)(people)
    assert str(await ApiKey.objects.values_list("pk", flat=True).aget(user=people.alice)) not in text_of(
        archive
    )
    workspace: Workspace = await sync_to_async(imported)(people, archive, "charlie")

    def read() -> tuple[Assistant, list[Any], list[Binding]]:
        made = Assistant.unscoped.get(workspace=workspace)
        return made, [each.settings for each in made.versions.order_by("number")], list(made.bindings.all())

    made, versions, bindings = await sync_to_async(read)()
    assert made.pk != guide.pk
    assert (made.name, made.user_id, made.version) == ("Guide", people.charlie.pk, 2)
    assert [each["instructions"] for each in versions] == ["First", "Second"]
    # A model that is not offered here may be elsewhere.
    assert versions[0]["model"] == "gone"
    document = await Document.unscoped.aget(workspace=workspace, name__startswith="solar")
    scope = versions[1]["scope"]
    assert (scope["document_ids"], scope["workspace_ids"]) == ([str(document.pk)], [str(workspace.pk)])
    # The binding of the key is not there. A scope whose workspace stayed behind is empty, not everything.
    by_kind = {each.kind: each for each in bindings}
    assert set(by_kind) == {BindingKind.WIDGET, BindingKind.MCP}
    assert by_kind[BindingKind.WIDGET].overrides == {"instructions": "Kind"}
    assert by_kind[BindingKind.WIDGET].origins == ["https://a.example"]
    assert by_kind[BindingKind.MCP].overrides["scope"]["workspace_ids"] == []
    # The conversation goes on with it, and its answer names it.
    session = await Session.unscoped.select_related("assistant_link").aget(workspace=workspace)
    assert session.assistant_link.assistant_id == made.pk
    path = f"sessions/{session.pk}/messages"
    [message] = (await call(people, "GET", path, name="charlie")).json()["results"]
    assert message["answers"][0]["result"]["assistant"]["id"] == str(made.pk)


async def test_what_a_member_keeps_to_themselves_is_in_no_archive(people: Cast, guide: Assistant) -> None:
    await Assistant.unscoped.acreate(
        workspace=people.team, user=people.bob, name="Bob's own", visibility=Visibility.MINE
    )
    archive = await sync_to_async(export)(people)
    assert [json.loads(line)["name"] for line in text_of(archive).splitlines()] == ["Guide"]


def text_of(archive: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        return members.read("assistants.jsonl").decode()


def rewritten(archive: bytes, change: Callable[[list[dict[str, Any]]], None]) -> bytes:
    """Return an archive with other lines of assistants."""
    lines = [json.loads(line) for line in text_of(archive).splitlines()]
    change(lines)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(made, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == "assistants.jsonl":
                content = "".join(json.dumps(line) + "\n" for line in lines).encode()
            new.writestr(member, content)
    return made.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines.append(lines[0]),
        lambda lines: lines[0]["versions"].pop(0),
        lambda lines: lines[0]["versions"][0]["settings"].update(tools=["shell"]),
        lambda lines: lines[0]["versions"][0]["settings"].update(model={"a": 1}),
        lambda lines: lines[0]["versions"][0]["settings"].update(web=7),
        lambda lines: lines[0]["bindings"][0].update(origins=["javascript:alert(1)"]),
        lambda lines: lines[0]["bindings"][0].update(kind="carrier"),
        lambda lines: lines[0]["bindings"][0]["overrides"].update(visibility="mine"),
        lambda lines: lines[0].update(key_id="1"),
    ],
)
async def test_a_hostile_archive_is_refused(
    people: Cast, guide: Assistant, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    archive = rewritten(await sync_to_async(export)(people), change)
    reply = await sync_to_async(send)(people, archive)
    await sync_to_async(run_transfer)(UUID(reply.json()["id"]))
    failed = await WorkspaceTransfer.unscoped.order_by("-created_at").afirst()
    assert failed is not None and failed.status == TransferStatus.FAILED
    assert "archive" in failed.error.lower()
