"""Executions in the admin panel: why an answer is what it is, and that looking at its words is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.utils import quote
from django.test import AsyncClient
from django.urls import reverse

from accounts.access.identity import principal_of_user
from accounts.models import AuditAction, AuditEntry
from runs.explanation import answer_parts, kept_sources, stage_times
from runs.lifecycle import begin
from runs.models import Execution, ExecutionStatus
from runs.registry import tool_named
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.locus.staff import staff_client

VIEW = "search.view_execution"
TABS = ("overview", "why", "events", "content")
QUESTION = "How much did the solar farm in Almería produce?"
WORDS = ("gigawatt", "How much did", "Almería")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("static_files")]


@pytest.fixture
async def answered() -> Execution:
    """A finished question of alice's, as the product ran it."""
    cast: Cast = await sync_to_async(make_cast)()
    await sync_to_async(indexed_document)(cast.team)
    response = await AsyncClient().post(
        "/api/v1/tools/rag_search",
        json.dumps({"query": QUESTION}),
        content_type="application/json",
        headers=cast.headers("alice"),
    )
    assert response.status_code == 200
    return await Execution.unscoped.select_related("user").aget()


def at(execution: Execution, name: str = "change") -> str:
    return reverse(f"admin:search_execution_{name}", args=[quote(execution.pk)])


@sync_to_async
def text_of(execution: Execution, tab: str, *permissions: str) -> str:
    client = staff_client(VIEW, *permissions, email=f"{tab}{len(permissions)}@example.org")
    page = client.get(at(execution) + f"?tab={tab}")
    assert page.status_code == 200
    return page.content.decode()


async def test_no_tab_shows_words_before_a_reason_is_given(answered: Execution) -> None:
    for tab in TABS:
        text = await text_of(answered, tab)
        assert not [word for word in WORDS if word in text], tab
    assert not await AuditEntry.unscoped.filter(action=AuditAction.CONTENT_VIEWED).aexists()


async def test_the_trace_says_what_was_found_kept_and_cited(answered: Execution) -> None:
    stages = stage_times(answered)
    assert next(stage.name for stage in stages if not stage.is_part) == "Finding passages"
    assert sum(stage.share for stage in stages if not stage.is_part) == pytest.approx(100, abs=3)
    [source] = await sync_to_async(kept_sources)(answered)
    assert (source.name, source.rank, source.was_cited) == ("solar.pdf", 1, True)
    with_documents = await text_of(answered, "why", "kb.view_document")
    assert "solar.pdf" in with_documents
    assert "The source says it." in with_documents
    assert "solar.pdf" not in await text_of(answered, "why")
    assert "RETRIEVAL, completed" in await text_of(answered, "events")
    overview = await text_of(answered, "overview")
    assert "alice@example.org" in overview
    assert "Finding passages" in overview


async def test_words_are_shown_for_a_reason_each_time_recorded(answered: Execution) -> None:
    @sync_to_async
    def look(reason: str) -> str:
        page = client.post(at(answered, "content"), {"reason": reason})
        assert page.status_code == 200
        return page.content.decode()

    client = await sync_to_async(staff_client)(VIEW)
    assert "gigawatt" not in await look(" ")
    assert not await AuditEntry.unscoped.filter(action=AuditAction.CONTENT_VIEWED).aexists()
    text = await look("ticket 17: the user asked for help")
    for word in WORDS:
        assert word in text
    await look("ticket 18")
    entries = AuditEntry.unscoped.filter(action=AuditAction.CONTENT_VIEWED).order_by("pk")
    seen = [(entry.target_id, entry.workspace_id, entry.details["reason"]) async for entry in entries]
    assert seen == [
        (answered.pk, answered.workspace_id, "ticket 17: the user asked for help"),
        (answered.pk, answered.workspace_id, "ticket 18"),
    ]


async def test_permissions(answered: Execution) -> None:
    @sync_to_async
    def codes(*permissions: str) -> list[int]:
        client = staff_client(*permissions, email=f"{len(permissions)}@example.org")
        return [
            client.get(at(answered)).status_code,
            client.post(at(answered, "content"), {"reason": "curious"}).status_code,
            client.get(at(answered, "content")).status_code,
            client.post(at(answered, "cancel")).status_code,
            client.get(at(answered, "delete")).status_code,
        ]

    assert await codes() == [403, 403, 403, 403, 403]
    assert await codes(VIEW) == [200, 200, 403, 403, 403]
    assert await codes(VIEW, "search.change_execution") == [200, 200, 403, 302, 403]


def test_a_running_execution_can_be_cancelled() -> None:
    cast = make_cast()
    principal = principal_of_user(cast.alice)
    tool = tool_named("rag_search")
    execution = begin(principal, tool, tool.parse(principal, {"query": "anything"}), None)
    client = staff_client(VIEW, "search.change_execution")
    for tab in TABS:
        assert client.get(at(execution) + f"?tab={tab}").status_code == 200
    client.post(at(execution, "cancel"))
    execution.refresh_from_db()
    assert execution.status == ExecutionStatus.CANCELLED
    assert (
        "Cancelled."
        in client.get(reverse("admin:search_execution_history", args=[quote(execution.pk)])).content.decode()
    )


def test_citations_are_told_from_the_words() -> None:
    text = 'It is so. <citation id="a">[1]</citation> And <web_citation url="u" title="t">[2]</web_citation>!'
    execution: Any = Execution(result={"response": text})
    assert list(answer_parts(execution)) == [("It is so. ", "[1]"), (" And ", "[2]"), ("!", "")]
