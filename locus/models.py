"""Permissions of the admin panel's pages that belong to no table, and jobs under a name for people."""

from __future__ import annotations

from django.db import models
from procrastinate.contrib.django.models import ProcrastinateJob

from locus.tasks import task_title


class Installation(models.Model):
    """No table: only the place where these permissions are declared."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = (
            ("view_components", "Can view providers and models"),
            ("test_components", "Can test providers and models"),
            ("view_health", "Can view what is wrong in the knowledge base"),
            ("repair", "Can repair the knowledge base"),
        )

    def __str__(self) -> str:
        return "Locus"


class QueuedJob(ProcrastinateJob):
    """A row of Procrastinate's: a job that waits, runs or has failed. Those that succeeded are deleted."""

    class Meta:
        proxy = True
        verbose_name = "job"
        verbose_name_plural = "failed work"

    def __str__(self) -> str:
        return task_title(self.task_name)
