"""Queues jobs on Django's own connection, so that a job and the rows it is about are one transaction.

In a worker, Procrastinate's app has a connection pool of its own. A job queued through that could run before
its rows are committed, and find nothing.
"""

from __future__ import annotations

from typing import Any

from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.jobs import Job, JobDeferrer
from procrastinate.manager import JobManager

FETCHING = "fetch "
"""The prefix of queues whose jobs wait for the web."""


def defer_job(task: str, arguments: dict[str, Any], **options: Any) -> None:
    """Queue a job of a task, as part of the caller's transaction.

    `arguments` are JSON; `options` are those of Procrastinate's `configure_task`, such as `lock`.
    """
    queue_job(app.configure_task(task, **options).job, arguments)


def queue_job(job: Job, arguments: dict[str, Any]) -> None:
    """Queue a job that is described already, in the same way."""
    JobDeferrer(job=job, job_manager=JobManager(DjangoConnector(alias="default"))).defer(**arguments)
