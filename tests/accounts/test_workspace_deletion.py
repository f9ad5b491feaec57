"""Deletion of a workspace: hidden at once, restorable for some days, then erased by the worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.access.rights import still_hold
from accounts.models import AuditAction, AuditEntry, Membership, Workspace
from accounts.people import deletion_jobs
from accounts.people.workspaces import erased_workspaces
from accounts.roles import Role
from kb.models import Document, Status
from runs.lifecycle import begin
from runs.models import Execution, ExecutionStatus
from runs.registry import tool_named
from tests.accounts.test_workspaces import actions, call, give, of
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.stored import is_stored

pytestmark = pytest.mark.django_db


def run_jobs(task: str) -> None:
    """Do what the worker would do with the queued jobs of a task."""
    for job in ProcrastinateJob.objects.filter(task_name=task):
        getattr(deletion_jobs, task)(**job.args)


def let_grace_pass(workspace: Workspace, days: float = 8) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(deleted_at=timezone.now() - timedelta(days=days))


def test_a_deleted_workspace_exists_for_nobody(cast: Cast) -> None:
    document = indexed_document(cast.team)
    principals = [principal_of_user(cast.alice), principal_of_user(cast.bob)]
    receipt = call(cast, "alice", "delete", of(cast.team))
    assert receipt["id"] == str(cast.team.pk)
    assert receipt["deleted"] == {"documents": 1, "chunks": 1, "bytes": document.size}
    assert receipt["restorable_until"] > timezone.now().isoformat()
    for who in ("alice", "bob", "charlie"):
        for path in (of(cast.team), of(cast.team, "/members"), f"documents/{document.pk}"):
            call(cast, who, "get", path, status=404)
        call(cast, who, "delete", of(cast.team), status=404)
        assert str(cast.team.pk) not in str(call(cast, who, "get", "workspaces"))
        assert call(cast, who, "get", "documents")["results"] == []
        assert call(cast, who, "post", "search", {"query": "solar farm"})["results"] == []
    assert still_hold(principals) == [False, False]


def test_its_owners_see_it_and_restore_it(cast: Cast) -> None:
    give(cast, "charlie", Role.ADMIN)
    document = indexed_document(cast.team)
    call(cast, "alice", "delete", of(cast.team))
    [listed] = call(cast, "alice", "get", "workspaces?deleted=true")["results"]
    assert (listed["name"], listed["role"]) == ("Team", "owner") and listed["restorable_until"]
    for who in ("bob", "charlie"):
        assert call(cast, who, "get", "workspaces?deleted=true")["results"] == []
        call(cast, who, "post", of(cast.team, "/restore"), status=404)
    restored = call(cast, "alice", "post", of(cast.team, "/restore"))
    assert restored["deleted_at"] is None
    call(cast, "alice", "post", of(cast.team, "/restore"), status=404)
    call(cast, "bob", "get", f"documents/{document.pk}")
    assert actions() == [AuditAction.WORKSPACE_DELETED, AuditAction.WORKSPACE_RESTORED]


def test_after_the_grace_period_it_is_erased_with_a_receipt(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    document = indexed_document(cast.team)
    call(cast, "alice", "delete", of(cast.team))
    with django_capture_on_commit_callbacks(execute=True):
        deletion_jobs.erase_deleted_workspaces(0)
    assert Workspace.objects.filter(pk=cast.team.pk).exists(), "the grace period is not over"
    let_grace_pass(cast.team)
    call(cast, "alice", "post", of(cast.team, "/restore"), status=404)
    assert call(cast, "alice", "get", "workspaces?deleted=true")["results"] == []
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            deletion_jobs.erase_deleted_workspaces(0)
    assert not Workspace.objects.filter(pk=cast.team.pk).exists()
    assert not Document.unscoped.exists() and not is_stored(document)
    [receipt] = erased_workspaces(principal_of_user(cast.alice))
    assert (receipt["name"], receipt["documents"], receipt["bytes"]) == ("Team", 1, document.size)
    assert erased_workspaces(principal_of_user(cast.bob)) == []


def test_an_interrupted_erasure_goes_on_and_keeps_its_receipt(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        indexed_document(cast.team)
    call(cast, "alice", "delete", of(cast.team))
    let_grace_pass(cast.team)
    monkeypatch.setattr("kb.deletion.AT_ONCE", 1)
    batches = 0

    def dies(*_: Any) -> dict[str, int]:
        nonlocal batches
        batches += 1
        if batches == 2:
            raise RuntimeError("the worker is killed")
        return {}

    with monkeypatch.context() as patch:
        patch.setattr("kb.deletion.scrubbers", [dies])
        with pytest.raises(RuntimeError):
            deletion_jobs.erase_deleted_workspaces(0)
    assert 0 < Document.unscoped.count() < 3
    call(cast, "alice", "post", of(cast.team, "/restore"), status=404)
    deletion_jobs.erase_deleted_workspaces(0)
    assert Document.unscoped.count() == 0
    [receipt] = erased_workspaces(principal_of_user(cast.alice))
    assert receipt["documents"] == 3


def test_without_a_grace_period_it_is_erased_at_once(cast: Cast, settings: Settings) -> None:
    settings.WORKSPACE_GRACE_DAYS = 0
    assert call(cast, "alice", "delete", of(cast.team))["restorable_until"] is None
    call(cast, "alice", "post", of(cast.team, "/restore"), status=404)
    assert not Membership.objects.filter(workspace=cast.team).exists()
    run_jobs(deletion_jobs.DELETE)
    assert not Workspace.objects.filter(pk=cast.team.pk).exists()
    assert actions() == [AuditAction.WORKSPACE_DELETED, AuditAction.WORKSPACE_ERASED]


def test_what_runs_in_it_ends_and_documents_go_on_after_a_restore(cast: Cast) -> None:
    document = indexed_document(cast.team)
    Document.unscoped.filter(pk=document.pk).update(status=Status.EXTRACTING)
    principal, tool = principal_of_user(cast.alice), tool_named("rag_search")
    inputs = tool.parse(principal, {"query": "Who owns the solar farm?"})
    run, elsewhere = (begin(principal, tool, inputs, id) for id in (cast.team.pk, None))
    call(cast, "alice", "delete", of(cast.team))
    run_jobs(deletion_jobs.STOP)
    document.refresh_from_db()
    assert document.status == Status.CANCELLED
    statuses = dict(Execution.unscoped.values_list("pk", "status"))
    assert statuses[run.pk] == ExecutionStatus.CANCELLED
    assert statuses[elsewhere.pk] != ExecutionStatus.CANCELLED
    call(cast, "alice", "post", of(cast.team, "/restore"))
    run_jobs(deletion_jobs.RESUME)
    document.refresh_from_db()
    assert document.status == Status.QUEUED


def test_the_pages_of_a_deleted_workspace_are_gone(cast: Cast, plain_static_files: None) -> None:
    client = Client()
    client.force_login(cast.alice)
    addresses = [f"/workspaces/{cast.team.pk}{tail}" for tail in ("", "/members", "/settings", "/web")]
    assert [client.get(address).status_code for address in addresses] == [200] * 4
    call(cast, "alice", "delete", of(cast.team))
    assert [client.get(address).status_code for address in addresses] == [404] * 4
    assert "Deleted workspaces" in client.get("/workspaces").content.decode()
    assert "Team" not in client.get("/preferences").content.decode()


def test_one_query_finds_all_that_a_user_may_read(cast: Cast, django_assert_num_queries: Any) -> None:
    Workspace.create_for(cast.alice, name="Gone")
    Workspace.objects.filter(name="Gone").update(deleted_at=timezone.now())
    with django_assert_num_queries(1):
        principal = principal_of_user(cast.alice)
    assert len(principal.workspace_ids) == 2


def test_deleted_by_staff_it_can_not_be_restored(cast: Cast) -> None:
    deletion_jobs.delete_later([cast.team.pk], [])
    call(cast, "alice", "get", of(cast.team), status=404)
    call(cast, "alice", "post", of(cast.team, "/restore"), status=404)
    assert cast.team.name == "Team"
    run_jobs(deletion_jobs.DELETE)
    entry = AuditEntry.unscoped.get()
    assert (entry.action, entry.user) == (AuditAction.WORKSPACE_ERASED, None)
