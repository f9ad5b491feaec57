"""One action on many documents, and deletions that can be undone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import AuditEntry
from kb.api import bulk as bulk_api
from kb.models import Chunk, Document, Status
from kb.scheduled_deletion import delete_marked_documents, delete_overdue
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db
API = "/api/v1/documents"


def bulk(cast: Cast, name: str = "alice", **body: Any) -> Any:
    return Client().post(f"{API}/bulk", body, content_type="application/json", headers=cast.headers(name))


def listed(cast: Cast, **query: Any) -> list[str]:
    return [one["name"] for one in Client().get(API, query, headers=cast.headers("alice")).json()["results"]]


def ids(*documents: Document) -> list[str]:
    return [str(document.pk) for document in documents]


class TestActions:
    def test_tags_are_added_and_removed(self, cast: Cast) -> None:
        one, two = (indexed_document(cast.team, f"Text {n}.", name=f"{n}.pdf") for n in (1, 2))
        Document.unscoped.filter(pk=one.pk).update(tags=["old"])
        added = bulk(cast, ids=ids(one, two), action="add_tags", tags=["new", "old"]).json()
        assert (set(added["changed"]), added["failed"], added["next"]) == ({*ids(one, two)}, [], None)
        bulk(cast, ids=ids(one), action="remove_tags", tags=["old"])
        assert Document.unscoped.get(pk=one.pk).tags == ["new"]
        assert Document.unscoped.get(pk=two.pk).tags == ["new", "old"]
        assert AuditEntry.unscoped.filter(action="document.changed").count() == 3

    def test_moving_names_what_could_not_be_moved(self, cast: Cast) -> None:
        there = cast.alice.personal_workspace
        moved, same = (indexed_document(cast.team, f"Text {n}.", name=f"{n}.pdf") for n in (1, 2))
        indexed_document(there, name="twin.pdf")
        Document.unscoped.filter(name="twin.pdf").update(identity=same.identity)
        reply = bulk(cast, ids=ids(moved, same), action="move", workspace_id=str(there.pk)).json()
        assert reply["changed"] == ids(moved)
        assert [(one["id"], one["code"]) for one in reply["failed"]] == [(str(same.pk), "conflict")]
        assert Document.unscoped.get(pk=moved.pk).workspace_id == there.pk

    def test_processing_again_and_cancelling(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        bulk(cast, ids=ids(document), action="reprocess")
        assert Document.unscoped.get(pk=document.pk).status == Status.QUEUED
        bulk(cast, ids=ids(document), action="cancel")
        assert Document.unscoped.get(pk=document.pk).status == Status.CANCELLED

    def test_a_filter_is_gone_through_in_steps(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bulk_api, "AT_ONCE", 2)
        for number in range(5):
            indexed_document(cast.team, f"Text {number}.", name=f"note {number}.pdf")
        other = indexed_document(cast.team, "Another.", name="other.pdf")
        body: dict[str, Any] = {"filter": {"search": "note"}, "action": "add_tags", "tags": ["t"]}
        steps = [bulk(cast, **body).json()]
        while after := steps[-1]["next"]:
            steps.append(bulk(cast, **body, after=after).json())
        assert [len(step["changed"]) for step in steps] == [2, 2, 1]
        assert Document.unscoped.filter(tags=["t"]).count() == 5
        assert Document.unscoped.get(pk=other.pk).tags == []

    def test_deleting_at_once_gives_a_receipt(self, cast: Cast) -> None:
        documents = [indexed_document(cast.team, f"Text {n}.", name=f"{n}.pdf") for n in range(2)]
        reply = bulk(cast, ids=ids(*documents), action="delete").json()
        assert (reply["deleted"]["documents"], reply["deleted"]["chunks"]) == (2, 2)
        assert not Document.unscoped.exists() and not Chunk.unscoped.exists()


class TestRights:
    def test_an_invisible_document_is_404_and_nothing_is_done(self, cast: Cast) -> None:
        seen, unseen = indexed_document(cast.team), indexed_document(cast.charlie.personal_workspace)
        for unknown in (str(unseen.pk), str(uuid4())):
            reply = bulk(cast, ids=[*ids(seen), unknown], action="delete")
            assert (reply.status_code, reply.json()["error"]["param"]) == (404, "ids[1]")
        assert Document.unscoped.count() == 2

    def test_a_viewer_changes_nothing(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        for action in ("delete", "reprocess", "restore", "cancel"):
            reply = bulk(cast, "bob", ids=ids(document), action=action).json()
            assert (reply["changed"], reply["failed"][0]["code"]) == ([], "forbidden")
        reply = bulk(cast, "bob", ids=ids(document), action="delete", delay_secs=10).json()
        assert (reply["changed"], reply["failed"][0]["code"]) == ([], "forbidden")
        assert Document.unscoped.get().delete_at is None

    def test_a_filter_reaches_only_what_the_caller_lists(self, cast: Cast) -> None:
        indexed_document(cast.charlie.personal_workspace)
        assert bulk(cast, filter={}, action="delete").json()["changed"] == []
        assert Document.unscoped.count() == 1

    def test_no_move_to_where_the_caller_may_not_write(self, cast: Cast) -> None:
        document = indexed_document(cast.bob.personal_workspace)
        reply = bulk(cast, "bob", ids=ids(document), action="move", workspace_id=str(cast.team.pk))
        assert reply.status_code == 403
        unseen = str(cast.charlie.personal_workspace.pk)
        unknown = bulk(cast, "bob", ids=ids(document), action="move", workspace_id=unseen)
        assert unknown.status_code == 404


@pytest.mark.parametrize(
    "body, param",
    [
        ({"action": "delete"}, "ids"),
        ({"action": "delete", "ids": [str(uuid4())], "filter": {}}, "ids"),
        ({"action": "add_tags", "filter": {}}, "tags"),
        ({"action": "delete", "filter": {}, "tags": ["a"]}, "tags"),
        ({"action": "move", "filter": {}}, "workspace_id"),
        ({"action": "reprocess", "filter": {}, "delay_secs": 5}, "delay_secs"),
        ({"action": "delete", "filter": {"tagg": "a"}}, "filter.tagg"),
        ({"action": "delete", "filter": {"session_id": str(uuid4())}}, "filter.session_id"),
        ({"action": "delete", "ids": [str(uuid4())], "after": str(uuid4())}, "after"),
    ],
)
def test_bad_requests(cast: Cast, body: dict[str, Any], param: str) -> None:
    reply = bulk(cast, **body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


class TestUndo:
    @pytest.fixture
    def document(self, cast: Cast) -> Document:
        document = indexed_document(cast.team)
        bulk(cast, ids=ids(document), action="delete", delay_secs=30)
        return document

    def test_a_marked_document_is_hidden_but_not_gone(self, cast: Cast, document: Document) -> None:
        headers = cast.headers("alice")
        assert listed(cast) == []
        assert Client().get(f"{API}/summary", headers=headers).json()["documents"] == 0
        assert Client().get(f"{API}/{document.pk}", headers=headers).json()["delete_at"]
        job = ProcrastinateJob.objects.get(task_name="delete_marked_documents")
        assert job.scheduled_at and job.scheduled_at > timezone.now() + timedelta(seconds=20)

    def test_it_is_not_searched(self, cast: Cast, document: Document) -> None:
        found = Client().post(
            "/api/v1/search",
            {"query": "solar farm"},
            content_type="application/json",
            headers=cast.headers("alice"),
        )
        assert found.json()["results"] == []

    def test_undo_brings_it_back(self, cast: Cast, document: Document) -> None:
        assert bulk(cast, ids=ids(document), action="restore").json()["changed"] == ids(document)
        assert listed(cast) == ["solar.pdf"]
        delete_marked_documents(ids(document), cast.alice.pk)
        assert Document.unscoped.count() == 1

    def test_the_job_deletes_when_the_time_has_come(self, cast: Cast, document: Document) -> None:
        delete_marked_documents(ids(document), cast.alice.pk)
        assert Document.unscoped.count() == 1
        Document.unscoped.update(delete_at=timezone.now())
        delete_marked_documents(ids(document), cast.alice.pk)
        assert not Document.unscoped.exists() and not Chunk.unscoped.exists()
        entry = AuditEntry.unscoped.get(action="document.deleted")
        assert (entry.user_id, entry.details["documents"]) == (cast.alice.pk, 1)

    def test_a_lost_job_is_made_up_for(self, cast: Cast, document: Document) -> None:
        assert delete_overdue() == 0
        Document.unscoped.update(delete_at=timezone.now() - timedelta(minutes=5))
        assert delete_overdue() == 1
        assert not Document.unscoped.exists()


def test_a_summary_counts_what_the_list_shows(cast: Cast) -> None:
    one, two = (indexed_document(cast.team, f"Text {n}.", name=f"{n}.pdf") for n in (1, 2))
    Document.unscoped.filter(pk=one.pk).update(tags=["a", "b"], status="failed", file_type="docx", size=10)
    Document.unscoped.filter(pk=two.pk).update(tags=["b"], size=5)
    indexed_document(cast.charlie.personal_workspace)
    summary = Client().get(f"{API}/summary", headers=cast.headers("alice")).json()
    assert summary == {
        "documents": 2,
        "bytes": 15,
        "statuses": {"failed": 1, "ready": 1},
        "types": {"docx": 1, "pdf": 1},
        "languages": {"en": 2},
        "tags": {"b": 2, "a": 1},
    }
    tagged = Client().get(f"{API}/summary", {"tag": "a"}, headers=cast.headers("alice")).json()
    assert (tagged["documents"], tagged["bytes"]) == (1, 10)


@pytest.mark.parametrize("ordering, expected", [("type", ["b", "a"]), ("-status", ["a", "b"])])
def test_more_orders(cast: Cast, ordering: str, expected: list[str]) -> None:
    for name, kind, status in (("a", "pdf", "ready"), ("b", "docx", "failed")):
        document = indexed_document(cast.team, name, name=name)
        Document.unscoped.filter(pk=document.pk).update(file_type=kind, status=status)
    assert listed(cast, ordering=ordering) == expected
