"""The audit log: what an entry says, and who reads it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.access.identity import principal_of_key, principal_of_user
from accounts.audit.recording import record, record_view
from accounts.audit.retention import delete_old_audit_entries
from accounts.models import ApiKey, AuditAction, AuditEntry, User
from core.http.client_address import begin_address
from core.http.request_id import begin_request
from kb.models import Document
from runs.events import DocumentsRead
from runs.journal import EventBatch, store_all
from runs.lifecycle import begin
from runs.registry import tool_named
from tests.conftest import Cast, make_cast
from tests.factories import chunk_id, indexed_document

pytestmark = pytest.mark.django_db


def test_an_entry_says_who_as_whom_what_and_from_where(cast: Cast) -> None:
    begin_request("r-1")
    begin_address("192.0.2.7")
    key = ApiKey.objects.get(user=cast.alice)
    actor = principal_of_key(key, "customer")
    record(AuditAction.MEMBER_CHANGED, actor, workspace_id=cast.team.pk, target=("user", 5), role="editor")
    entry = AuditEntry.unscoped.get()
    assert (entry.user, entry.key_id, entry.external_user_id) == (cast.alice, key.pk, "customer")
    assert (entry.target_type, entry.target_id, entry.details) == ("user", "5", {"role": "editor"})
    assert (entry.address, entry.request_id) == ("192.0.2.7", "r-1")


def test_only_admins_of_the_workspace_read_it(cast: Cast) -> None:
    record(AuditAction.WORKSPACE_CHANGED, cast.alice, workspace_id=cast.team.pk)
    record(AuditAction.LOGIN_FAILED, None)
    readers = {
        user.email: AuditEntry.objects.restricted_to(principal_of_user(user)).count()
        for user in (cast.alice, cast.bob, cast.charlie)
    }
    assert readers == {cast.alice.email: 1, cast.bob.email: 0, cast.charlie.email: 0}


def test_what_is_rolled_back_is_not_in_the_log(cast: Cast) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        record(AuditAction.WORKSPACE_CHANGED, cast.alice, workspace_id=cast.team.pk)
        raise RuntimeError
    assert not AuditEntry.unscoped.exists()


def test_an_entry_outlives_its_user(cast: Cast) -> None:
    record(AuditAction.DATA_EXPORTED, cast.charlie)
    cast.charlie.delete()
    assert AuditEntry.unscoped.get().user is None


class TestRetrievals:
    """Every search and run says which chunks it has read, in each workspace whose chunks they are."""

    @pytest.fixture
    def documents(self, cast: Cast) -> list[Document]:
        return [indexed_document(cast.team), indexed_document(cast.alice.personal_workspace)]

    def search(self, cast: Cast, path: str = "search", **body: Any) -> Any:
        reply = Client().post(
            f"/api/v1/{path}",
            json.dumps({"query": "Who owns the solar farm?"} | body),
            content_type="application/json",
            headers=cast.headers("alice", **{"X-Request-Id": "r-1"}),
        )
        assert reply.status_code == 200, reply.content
        return reply.json()

    def test_a_search_in_two_workspaces(self, cast: Cast, documents: list[Document]) -> None:
        found = self.search(cast)
        entries = AuditEntry.unscoped.filter(action=AuditAction.CHUNKS_RETRIEVED)
        assert {entry.workspace_id: entry.details for entry in entries} == {
            document.workspace_id: {
                "tool": "search",
                "workspaces": 2,
                "chunks": 1,
                "chunk_ids": [str(chunk_id(document))],
            }
            for document in documents
        }
        assert {hit["chunk_id"] for hit in found["results"]} == {
            id for entry in entries for id in entry.details["chunk_ids"]
        }
        assert {(entry.user, entry.key_id) for entry in entries} == {
            (cast.alice, ApiKey.objects.get(user=cast.alice).pk)
        }
        assert "solar" not in str([entry.details for entry in entries])

    def test_a_search_of_named_documents_that_finds_nothing(
        self, cast: Cast, documents: list[Document]
    ) -> None:
        self.search(cast, document_ids=[str(documents[0].pk)], min_score=1e9)
        entry = AuditEntry.unscoped.get(action=AuditAction.CHUNKS_RETRIEVED)
        assert entry.workspace_id == cast.team.pk
        assert entry.details == {
            "tool": "search",
            "workspaces": 1,
            "documents": 1,
            "document_ids": [str(documents[0].pk)],
            "chunks": 0,
            "chunk_ids": [],
        }


@pytest.mark.django_db(transaction=True)
class TestRetrievalsOfRuns:
    def test_a_run(self) -> None:
        cast = make_cast()
        document = indexed_document(cast.team)
        result = TestRetrievals().search(cast, "tools/rag_search", workspace_ids=[str(cast.team.pk)])
        entry = AuditEntry.unscoped.get(action=AuditAction.CHUNKS_RETRIEVED)
        assert (entry.target_type, entry.target_id) == ("execution", result["execution_id"])
        assert (entry.user, entry.workspace_id) == (cast.alice, cast.team.pk)
        assert entry.details["chunk_ids"] == [str(chunk_id(document))]
        assert [context["chunk_id"] for context in result["contexts"]] == entry.details["chunk_ids"]

    def test_a_run_that_reads_twice_before_it_is_stored(self) -> None:
        """Only the last chunks were in the log."""
        cast = make_cast()
        document = indexed_document(cast.team)
        tool, principal = tool_named("rag_search"), principal_of_user(cast.alice)
        run = begin(principal, tool, tool.parse(principal, {"query": "Who?"}), None)
        reads = [DocumentsRead(documents=[document.pk], chunks={cast.team.pk: [uuid4()]}) for _ in range(2)]
        store_all([EventBatch(run.pk, reads)])
        entry = AuditEntry.unscoped.get(action=AuditAction.CHUNKS_RETRIEVED)
        assert entry.details["chunk_ids"] == [str(read.chunks[cast.team.pk][0]) for read in reads]


class TestDocuments:
    """Who adds, changes and deletes documents; their names are words, and are not in the log."""

    def test_the_life_of_a_document(self, cast: Cast) -> None:
        client, headers = Client(), cast.headers("alice")
        body = {"text": "The keeper.", "name": "secret name", "workspace_id": str(cast.team.pk)}
        added = client.post(
            "/api/v1/documents", json.dumps(body), content_type="application/json", headers=headers
        ).json()
        address = f"/api/v1/documents/{added['documents'][0]['id']}"
        changes = json.dumps({"title": "another", "tags": ["a"]})
        client.patch(address, changes, content_type="application/json", headers=headers)
        client.post(f"{address}/cancel", headers=headers)
        client.post(f"{address}/reprocess", headers=headers)
        assert client.delete(address, headers=headers).status_code == 200
        entries = AuditEntry.unscoped.filter(target_type="document").order_by("at", "pk")
        assert [entry.action for entry in entries] == [
            "document.added",
            *["document.changed"] * 3,
            "document.deleted",
        ]
        assert [entry.details.get("fields") for entry in entries] == [
            None,
            ["name", "tags"],
            ["processing"],
            ["processing"],
            None,
        ]
        assert {entry.user for entry in entries} == {cast.alice}
        assert {entry.workspace_id for entry in entries} == {cast.team.pk}
        assert "secret" not in str([entry.details for entry in entries])


def test_changed_settings_are_named_without_their_values(cast: Cast) -> None:
    Client().patch(
        f"/api/v1/workspaces/{cast.team.pk}/settings",
        json.dumps({"web_search": {"enabled": True, "max_cost": 5}, "rag": None}),
        content_type="application/json",
        headers=cast.headers("alice"),
    )
    entry = AuditEntry.unscoped.get(action=AuditAction.SETTINGS_CHANGED)
    assert entry.workspace_id == cast.team.pk
    assert entry.details == {"settings": ["rag.*", "web_search.enabled", "web_search.max_cost"]}


def test_staff_who_look_at_content_are_recorded(cast: Cast) -> None:
    document = indexed_document(cast.team)
    request = HttpRequest()
    request.user = User.objects.create_superuser("staff@example.org")
    record_view(request, document, part="raw")
    entry = AuditEntry.objects.restricted_to(principal_of_user(cast.alice)).get()
    assert (entry.action, entry.user) == (AuditAction.CONTENT_VIEWED, request.user)
    assert (entry.target_type, entry.target_id) == ("document", str(document.pk))


@pytest.mark.parametrize(("days", "kept"), [(30, 1), (0, 2)])
def test_old_entries_are_deleted(cast: Cast, settings: Settings, days: int, kept: int) -> None:
    settings.AUDIT_RETENTION_DAYS = days
    for _ in range(2):
        record(AuditAction.DATA_EXPORTED, cast.alice)
    old = AuditEntry.unscoped.earliest("pk")
    AuditEntry.unscoped.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=31))
    delete_old_audit_entries(0)
    assert AuditEntry.unscoped.count() == kept
