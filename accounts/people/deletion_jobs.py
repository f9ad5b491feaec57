"""Deletion of large workspaces, and of people who have some, in the worker, so that no browser waits."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.jobs import JobDeferrer
from procrastinate.manager import JobManager

from accounts.models import Membership, User, Workspace
from accounts.people.deletion import delete_users, delete_workspaces

TASK = "delete_workspaces_and_people"
MARK = " (being deleted)"


@app.task(name=TASK)
def delete_workspaces_and_people(workspace_ids: list[str], user_ids: list[int]) -> None:
    """Delete them for good; earlier attempts of this job may have deleted some of it."""
    delete_workspaces(map(UUID, workspace_ids))
    delete_users(user_ids)


@transaction.atomic
def delete_later(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> None:
    """Hide the workspaces and end the people's logins at once, and queue the rest."""
    for workspace in Workspace.objects.filter(pk__in=workspace_ids):
        workspace.name = workspace.name.removesuffix(MARK)[: 200 - len(MARK)] + MARK
        workspace.save(update_fields=["name"])
    Membership.objects.filter(workspace__in=workspace_ids).delete()
    User.objects.filter(pk__in=user_ids).update(is_active=False)
    # Use Django's own connection: the job and these changes are one transaction.
    configured = app.configure_task(TASK)
    deferrer = JobDeferrer(job=configured.job, job_manager=JobManager(DjangoConnector(alias="default")))
    deferrer.defer(workspace_ids=[str(id) for id in workspace_ids], user_ids=list(user_ids))
