"""The adversary in the queue: a job acts for the tenant whose ids it was given, and for nobody else."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from procrastinate.contrib.django import app
from pytest import Subtests

from accounts.models import ExternalUserDeletion, Webhook, WebhookDelivery, Workspace
from runs.models import TransferKind, WorkspaceTransfer
from tests.adversary.requests import NUMBERED
from tests.adversary.world import World, lost_rows, rows

pytestmark = pytest.mark.django_db(transaction=True)

Ids = dict[str, str]
WITHOUT_IDS = {
    "apply_index_changes",
    "drop_unused_collections",
    "switch_engine",
    "builtin:procrastinate.builtin_tasks.remove_old_jobs",
    "procrastinate.builtin_tasks.remove_old_jobs",
    "delete_expired_events",
    "delete_empty_rate_buckets",
    "delete_expired_program_access",
    "delete_idempotency_keys",
    "delete_old_audit_entries",
    "delete_old_invitations",
    "delete_old_deliveries",
    "delete_old_notifications",
    "end_abandoned_executions",
    "erase_deleted_workspaces",
    "examine_knowledge_base",
    "fill_multilingual_space",
    "forget_terms",
    "keep_multilingual_space_filled",
    "mail_notifications",
    "purge_all_segments",
    "remove_expired_archives",
    "reembed",
    "release_abandoned_charges",
    "renew_all_segments",
    "tidy_caches",
}
"""Jobs that look after everybody's rows alike, and take no id."""


def _of_a_scope(ids: Ids) -> dict[str, Any]:
    return {"workspace_id": ids["workspace"], "external_user_id": None, "session_id": None}


def _transfer(kind: TransferKind, ids: Ids) -> str:
    """Return an export or import of a workspace that charlie has begun, or one that nobody has."""
    workspace = Workspace.objects.filter(pk=ids["workspace"]).first()
    if workspace is None:
        return str(uuid4())
    user = workspace.memberships.get().user
    return str(WorkspaceTransfer.unscoped.create(kind=kind, workspace=workspace, user=user).pk)


def _deletion(ids: Ids) -> str:
    """Return the deletion of external user x, who alice has too, from a workspace of charlie's, or none."""
    workspace = Workspace.objects.filter(pk=ids["workspace"]).first()
    if workspace is None:
        return str(uuid4())
    user = workspace.memberships.get().user
    deletion = ExternalUserDeletion.unscoped.create(
        user=user, external_user_id="x", workspace_ids=[workspace.pk]
    )
    return str(deletion.pk)


def _delivery(ids: Ids) -> str:
    """Return a delivery to a webhook of charlie's that is switched off, or one that nobody has."""
    workspace = Workspace.objects.filter(pk=ids["workspace"]).first()
    if workspace is None:
        return str(uuid4())
    webhook = Webhook.unscoped.create(
        workspace=workspace, url="https://example.org/", events=[], secret="", disabled_because="admin"
    )
    return str(WebhookDelivery.objects.create(webhook=webhook, event="document.indexed", body="{}").pk)


ARGUMENTS: dict[str, Callable[[Ids], dict[str, Any]]] = {
    "fetch_document": lambda ids: {"document_id": ids["document"]},
    "ingest_document": lambda ids: {"document_id": ids["document"]},
    "delete_marked_documents": lambda ids: {"document_ids": [ids["document"]], "user_id": None},
    "embed_document": lambda ids: {"document_id": ids["document"]},
    "scrub_documents": lambda ids: {"document_ids": [ids["document"]]},
    "deliver_webhook": lambda ids: {"delivery_id": _delivery(ids)},
    "delete_external_user": lambda ids: {"deletion_id": _deletion(ids)},
    "export_workspace": lambda ids: {"transfer_id": _transfer(TransferKind.EXPORT, ids)},
    "import_workspace": lambda ids: {"transfer_id": _transfer(TransferKind.IMPORT, ids)},
    "pack_segments": _of_a_scope,
    "purge_segments": _of_a_scope,
    "renew_segments": _of_a_scope,
    "stop_work_of_workspaces": lambda ids: {"workspace_ids": [ids["workspace"]]},
    "resume_work_of_workspaces": lambda ids: {
        "workspace_ids": [ids["workspace"]],
        "since": "2026-01-01T00:00:00+00:00",
    },
    "delete_workspaces_and_people": lambda ids: {"workspace_ids": [ids["workspace"]], "user_ids": []},
}
"""By task: its arguments with ids of one tenant."""


def tasks() -> dict[str, Any]:
    """Return all tasks that a worker knows."""
    app.perform_import_paths()
    return dict(app.tasks)


def test_every_task_has_a_case() -> None:
    assert set(tasks()) == WITHOUT_IDS | set(ARGUMENTS)


def run(name: str, arguments: dict[str, Any]) -> None:
    """Run a task as the worker would, in this process."""
    task = tasks()[name]
    job = SimpleNamespace(attempts=0, queue="default", priority=0)
    context = [SimpleNamespace(job=job, should_abort=lambda: False)] if task.pass_context else []
    task.func(*context, **arguments)


def test_a_job_for_what_does_not_exist_changes_nothing(subtests: Subtests) -> None:
    World()
    before = rows()
    for name, arguments in ARGUMENTS.items():
        with subtests.test(task=name):
            run(name, arguments({"document": str(uuid4()), "workspace": str(uuid4())}))
            assert not lost_rows(before, rows())


def test_a_job_changes_only_the_rows_of_its_tenant(subtests: Subtests) -> None:
    """The ids are of charlie's; nothing of alice's may be touched."""
    world = World()
    charlies = world.people["charlie"]
    alices = {thing.id for thing in world.things if thing.kind not in NUMBERED}
    for name, arguments in ARGUMENTS.items():
        own = Workspace.create_for(charlies, name="charlie's")
        document = next(world.document(own))
        before = of(alices, rows())
        assert before
        run(name, arguments({"document": document.id, "workspace": str(own.pk)}))
        with subtests.test(task=name):
            assert not lost_rows(before, of(alices, rows()))


def of(ids: set[str], found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the rows that mention any of some ids."""
    return {table: {row for row in texts if any(id in row for id in ids)} for table, texts in found.items()}
