"""External users: who they are, what there is of them, and their deletion with all that belongs to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest import Subtests

from accounts import external_users_api
from accounts.access.identity import principal_of_user
from accounts.external_users import deletion as deleting
from accounts.external_users.jobs import delete_external_user
from accounts.models import (
    AuditAction,
    AuditEntry,
    DailyUsage,
    ExternalUserDeletion,
    IdempotentRequest,
    Membership,
    Session,
    User,
    Workspace,
)
from accounts.roles import Role
from kb.models import Chunk, Document
from runs.lifecycle import begin
from runs.models import Execution, ExecutionEvent, ExecutionStatus
from runs.registry import tool_named
from tests.conftest import Cast
from tests.factories import TEXT, indexed_document
from tests.testing.stored import has_folder, is_stored

API = "/api/v1/external-users"
AWKWARD = [
    "a/b",
    "/",
    "a//b/",
    "..",
    "../../documents",
    ".",
    "a?b=c&d",
    "a#b",
    "100%",
    "%2F",
    "a+b c",
    " x ",
    "Ünïcode 日本 🦊",
    "e\u0301",
    "\u00e9",
    "line\nend\n",
    "x" * 255,
    "🦊" * 255,
    "x'; DROP TABLE accounts_user; --",
    "{id}",
]


def at(id: str) -> str:
    return f"{API}/{quote(id, safe='')}"


def call(method: str, path: str, headers: dict[str, str]) -> Any:
    return getattr(Client(), method)(path, headers=headers)


def execution_of(user: User, external_user_id: str | None, workspace: Workspace, **fields: Any) -> Execution:
    principal = principal_of_user(user, external_user_id)
    tool = tool_named("rag_search")
    execution = begin(principal, tool, tool.parse(principal, {"query": "Who owns it?"}), workspace.pk)
    execution.status, execution.last_seq = ExecutionStatus.COMPLETED, 1
    for name, value in fields.items():
        setattr(execution, name, value)
    execution.save()
    ExecutionEvent.objects.create(execution=execution, seq=1, event="tool_end", data={"response": "It."})
    return execution


def usage_of(workspace: Workspace, external_user_id: str | None, **counts: int) -> DailyUsage:
    return DailyUsage.unscoped.create(
        day=timezone.now().date(),
        workspace_id=workspace.pk,
        external_user_id=external_user_id,
        **counts,
    )


class TestListing:
    def test_what_there_is_of_each(self, cast: Cast) -> None:
        for name in ("one", "two"):
            indexed_document(cast.team, f"{TEXT} {name}", external_user_id="x")
        execution_of(cast.bob, "x", cast.team)
        Session.unscoped.create(user=cast.bob, workspace=cast.team, external_user_id="x")
        usage_of(cast.team, "x", questions=3, input_tokens=10, output_tokens=5)
        usage_of(cast.team, "only usage", questions=1)
        usage_of(cast.team, "", questions=7)
        indexed_document(cast.team)
        indexed_document(cast.alice.personal_workspace, external_user_id="elsewhere")
        execution_of(cast.alice, None, cast.team)
        reply = call("get", f"{API}?workspace_id={cast.team.pk}", cast.headers("alice")).json()
        [x, rest] = reply["results"]
        size = sum(Document.unscoped.filter(external_user_id="x").values_list("size", flat=True))
        assert {name: x[name] for name in x if name != "last_seen_at"} == {
            "id": "x",
            "documents": 2,
            "bytes": size,
            "executions": 1,
            "sessions": 1,
            "questions": 3,
            "tokens": 15,
        }
        assert (rest["id"], rest["documents"]) == ("only usage", 0)
        assert call("get", at("x"), cast.headers("alice")).json() == x
        everywhere = call("get", API, cast.headers("alice")).json()["results"]
        assert {each["id"] for each in everywhere} == {"x", "only usage", "elsewhere"}

    def test_the_last_seen_comes_first_in_pages(self, cast: Cast) -> None:
        for index in range(5):
            session = Session.unscoped.create(
                user=cast.alice, workspace=cast.team, external_user_id=f"user {index}"
            )
            Session.unscoped.filter(pk=session.pk).update(created_at=timezone.now() - timedelta(hours=index))
        seen, address = [], f"{API}?limit=2"
        while address:
            page = call("get", address, cast.headers("alice")).json()
            seen += [each["id"] for each in page["results"]]
            address = page["next"]
        assert seen == [f"user {index}" for index in range(5)]
        one = call("get", f"{API}?q=USER 3", cast.headers("alice")).json()["results"]
        assert [each["id"] for each in one] == ["user 3"]
        assert call("get", f"{API}?q=%25", cast.headers("alice")).json()["results"] == []

    def test_last_seen_is_the_newest_of_all(self, cast: Cast) -> None:
        indexed_document(cast.team, external_user_id="x")
        Document.unscoped.update(created_at=timezone.now() - timedelta(days=3))
        execution_of(cast.alice, "x", cast.team)
        newest = Execution.unscoped.get().created_at
        shown = call("get", at("x"), cast.headers("alice")).json()["last_seen_at"]
        assert shown == newest.isoformat().replace("+00:00", "Z")


class TestRights:
    def test_only_admins_of_the_workspace(self, cast: Cast, subtests: Subtests) -> None:
        indexed_document(cast.team, external_user_id="x")
        named = f"?workspace_id={cast.team.pk}"
        for name, status in (("alice", 200), ("bob", 403), ("charlie", 404)):
            with subtests.test(name):
                assert call("get", API + named, cast.headers(name)).status_code == status
                assert call("get", at("x") + named, cast.headers(name)).status_code == status
        for name in ("bob", "charlie"):
            for method in ("get", "delete"):
                assert call(method, at("x"), cast.headers(name)).status_code == 404
            assert call("get", API, cast.headers(name)).json()["results"] == []
        Membership.objects.filter(user=cast.bob).filter(workspace=cast.team).update(role=Role.ADMIN)
        assert call("get", API + named, cast.headers("bob")).status_code == 200

    def test_an_external_user_manages_none(self, cast: Cast) -> None:
        indexed_document(cast.team, external_user_id="x")
        headers = cast.headers("alice", **{"X-External-User-Id": "x"})
        assert call("get", API, headers).status_code == 403
        for method in ("get", "delete"):
            assert call(method, at("x"), headers).status_code == 404

    def test_a_key_needs_the_scope_admin(self, cast: Cast) -> None:
        from accounts.access.keys import create_key

        indexed_document(cast.team, external_user_id="x")
        _, writer = create_key(cast.alice, "writer")
        _, narrow = create_key(
            cast.alice, "narrow", scopes=["admin", "read"], workspaces=[cast.alice.personal_workspace]
        )
        assert call("delete", at("x"), {"X-API-KEY": writer}).status_code == 403
        assert call("delete", at("x"), {"X-API-KEY": narrow}).status_code == 404
        assert call("get", API, {"X-API-KEY": narrow}).json()["results"] == []

    def test_an_unknown_one_is_404(self, cast: Cast) -> None:
        indexed_document(cast.team, external_user_id="x")
        for id in ("X", "x ", "y", "x%00", "%ED%A0%80"):
            reply = call("delete", f"{API}/{id}", cast.headers("alice"))
            assert reply.status_code == 404, id
        assert Document.unscoped.exists()


class TestDeletion:
    def test_all_that_belongs_to_it_goes(
        self, cast: Cast, django_capture_on_commit_callbacks: Callable[..., Any]
    ) -> None:
        gone = indexed_document(cast.team, external_user_id="x")
        session = Session.unscoped.create(user=cast.bob, workspace=cast.team, external_user_id="x")
        attached = indexed_document(cast.team, "Attached.", external_user_id="x", session=session)
        kept = indexed_document(cast.team, "Of nobody.")
        others = indexed_document(cast.team, "Of another.", external_user_id="y")
        execution_of(cast.bob, "x", cast.team)
        running = execution_of(cast.bob, "x", cast.team, status=ExecutionStatus.RUNNING)
        own = execution_of(cast.alice, None, cast.team)
        quoting = execution_of(
            cast.alice,
            "y",
            cast.team,
            read_documents=[gone.pk],
            result={"response": "It says so.", "contexts": [], "sources_used": []},
        )
        for outcome in (running.pk, [[str(gone.pk), False]]):
            IdempotentRequest.objects.create(
                user=cast.bob, external_user_id="x", key=f"k{outcome}", fingerprint="f", outcome=outcome
            )
        usage_of(cast.team, "x", questions=2)
        with django_capture_on_commit_callbacks(execute=True):
            reply = call("delete", at("x"), cast.headers("alice"))
        receipt = reply.json()
        assert (reply.status_code, receipt["is_complete"]) == (200, True)
        assert receipt["deleted"] == {
            "documents": 2,
            "chunks": 2,
            "vectors": 2,
            "files": 2,
            "bytes": gone.size + attached.size,
            "executions": 2,
            "events": 3,
            "sessions": 1,
        }
        assert receipt["scrubbed"]["executions"] == 1
        assert set(Document.unscoped.values_list("pk", flat=True)) == {kept.pk, others.pk}
        assert not Chunk.unscoped.filter(document__in=[gone.pk, attached.pk]).exists()
        assert set(Execution.unscoped.values_list("pk", flat=True)) == {own.pk, quoting.pk}
        quoting.refresh_from_db()
        assert quoting.result is not None
        assert quoting.result["response"] is None
        assert not Session.unscoped.exists()
        assert not IdempotentRequest.objects.exists()
        assert set(DailyUsage.unscoped.values_list("external_user_id", flat=True)) == {""}
        assert call("delete", at("x"), cast.headers("alice")).status_code == 404
        assert not has_folder(gone) and is_stored(kept)

    def test_the_receipt_can_be_looked_up(self, cast: Cast) -> None:
        indexed_document(cast.team, external_user_id="x")
        receipt = call("delete", at("x"), cast.headers("alice")).json()
        path = f"/api/v1/external-user-deletions/{receipt['id']}"
        assert call("get", path, cast.headers("alice")).json() == receipt
        for name in ("bob", "charlie"):
            assert call("get", path, cast.headers(name)).status_code == 404

    def test_it_is_in_the_audit_log_without_its_id(self, cast: Cast) -> None:
        indexed_document(cast.team, external_user_id="secret name")
        headers = cast.headers("alice", **{"X-External-User-Id": "secret name"})
        call("get", "/api/v1/documents", headers)
        receipt = call("delete", at("secret name"), cast.headers("alice")).json()
        entry = AuditEntry.unscoped.get(action=AuditAction.EXTERNAL_USER_DELETED)
        assert (entry.user, entry.workspace_id, entry.target_id) == (
            cast.alice,
            cast.team.pk,
            receipt["id"],
        )
        assert entry.key_id is not None
        assert entry.details["documents"] == 1
        assert not AuditEntry.unscoped.filter(external_user_id="secret name").exists()
        assert ExternalUserDeletion.unscoped.get().external_user_id == ""

    def test_the_same_string_elsewhere_is_another_person(self, cast: Cast) -> None:
        charlies = cast.charlie.personal_workspace
        personal = cast.alice.personal_workspace
        shared = Workspace.create_for(cast.charlie, name="Charlie's")
        Membership.objects.create(workspace=shared, user=cast.alice, role=Role.EDITOR)
        kept = [indexed_document(each, external_user_id="x") for each in (charlies, shared, personal)]
        runs = [execution_of(cast.charlie, "x", charlies), execution_of(cast.alice, "x", shared)]
        for run in runs:
            IdempotentRequest.objects.create(
                user=run.user, external_user_id="x", key="k", fingerprint="f", outcome=run.pk
            )
        usage = usage_of(charlies, "x", questions=1)
        indexed_document(cast.team, external_user_id="x")
        named = f"{at('x')}?workspace_id={cast.team.pk}"
        assert call("delete", named, cast.headers("alice")).status_code == 200
        assert Document.unscoped.count() == len(kept)
        assert call("delete", at("x"), cast.headers("alice")).json()["deleted"]["documents"] == 1
        assert set(Document.unscoped.values_list("pk", flat=True)) == {each.pk for each in kept[:2]}
        assert Execution.unscoped.count() == IdempotentRequest.objects.count() == len(runs)
        usage.refresh_from_db()
        assert usage.external_user_id == "x"

    @pytest.mark.parametrize("id", AWKWARD, ids=lambda id: ascii(id[:20]))
    def test_ids_are_taken_byte_for_byte(self, cast: Cast, id: str) -> None:
        other = f"{id[:254]}_"
        for each in (id, other):
            Session.unscoped.create(user=cast.alice, workspace=cast.team, external_user_id=each)
        assert call("get", at(id), cast.headers("alice")).json()["id"] == id
        assert call("delete", at(id), cast.headers("alice")).json()["deleted"] == {"sessions": 1}
        assert Session.unscoped.get().external_user_id == other


class TestLargeDeletions:
    def test_they_go_on_in_the_worker(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(external_users_api, "MAX_DOCUMENTS", 1)
        for name in ("one", "two"):
            indexed_document(cast.team, f"{TEXT} {name}", external_user_id="x")
        reply = call("delete", at("x"), cast.headers("alice"))
        assert (reply.status_code, reply.json()["is_complete"]) == (202, False)
        path = reply["Location"].removeprefix("http://testserver")
        assert call("get", path, cast.headers("alice")).json()["deleted"] == {}
        job = ProcrastinateJob.objects.get(task_name="delete_external_user")
        delete_external_user(**job.args)
        receipt = call("get", path, cast.headers("alice")).json()
        assert (receipt["is_complete"], receipt["deleted"]["documents"]) == (True, 2)
        delete_external_user(**job.args)
        assert call("get", path, cast.headers("alice")).json() == receipt

    def test_a_crash_loses_nothing_of_the_receipt(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kb.deletion.AT_ONCE", 1)
        for name in ("one", "two", "three"):
            indexed_document(cast.team, f"{TEXT} {name}", external_user_id="x")
        deletion = deleting.begin_deletion(principal_of_user(cast.alice), [cast.team.pk], "x")
        steps: list[int] = []
        real = deleting.removers[0]

        def crash(*of: Any) -> Any:
            steps.append(1)
            if len(steps) == 3:
                raise RuntimeError("the process is gone")
            return real(*of)

        monkeypatch.setattr(deleting, "removers", [crash])
        with pytest.raises(RuntimeError):
            deleting.resume(deletion)
        assert Document.unscoped.count() == 1
        monkeypatch.setattr(deleting, "removers", [real])
        deleting.resume(ExternalUserDeletion.unscoped.get())
        assert ExternalUserDeletion.unscoped.get().deleted["documents"] == 3

    def test_the_one_who_asked_may_be_gone(self, cast: Cast) -> None:
        indexed_document(cast.team, external_user_id="x")
        Membership.objects.filter(workspace=cast.team, user=cast.bob).update(role=Role.ADMIN)
        deletion = deleting.begin_deletion(principal_of_user(cast.bob), [cast.team.pk], "x")
        cast.bob.delete()
        delete_external_user(str(deletion.pk))
        assert not Document.unscoped.exists()
        entry = AuditEntry.unscoped.get(action=AuditAction.EXTERNAL_USER_DELETED)
        assert entry.user is None


def test_a_token_of_a_deleted_external_user_finds_nothing(cast: Cast) -> None:
    document = indexed_document(cast.team, external_user_id="x")
    body = json.dumps({"external_user_id": "x"})
    made = Client().post("/api/v1/auth/token", body, "application/json", headers=cast.headers("alice"))
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    path = f"/api/v1/documents/{document.pk}"
    assert call("get", path, headers).status_code == 200
    call("delete", at("x"), cast.headers("alice"))
    assert call("get", path, headers).status_code == 404
