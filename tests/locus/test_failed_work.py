"""Failed work: what failed stays, with its reason, until it is tried again or dismissed."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import AuditEntry
from ingestion.job_failures import reason_of
from kb.jobs import INGEST_TASK, defer_for_document
from kb.models import Document, JobFailure, Status
from locus.failed_work import dismiss_jobs, queue_state, retry_jobs
from locus.tasks import TASKS
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.staff import staff_client
from tests.testing.live import live_worker

PAGE = "admin:locus_queuedjob_changelist"
JOBS = tuple(f"locus.{name}_queuedjob" for name in ("view", "change", "delete"))
DOCUMENTS = ("kb.view_document", "kb.change_document")

pytestmark = pytest.mark.usefixtures("static_files")


@pytest.fixture
def document(cast: Cast) -> Document:
    return indexed_document(cast.team)


@pytest.fixture
def failed_job(document: Document) -> Any:
    """A job about the document that has failed."""
    defer_for_document(INGEST_TASK, document.pk)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = 'doing'")
        cursor.execute("UPDATE procrastinate_jobs SET status = 'failed', attempts = 15")
    job: Any = ProcrastinateJob.objects.get()
    JobFailure.objects.create(job_id=job.pk, reason="OperationalError in kb/documents.py, line 9: disk full")
    return job


def at(name: str, job: Any) -> str:
    return reverse(f"admin:locus_queuedjob_{name}", args=[job.pk])


def test_the_page_names_documents_and_reasons(failed_job: Any, document: Document) -> None:
    text = staff_client(*JOBS, *DOCUMENTS).get(reverse(PAGE)).content.decode()
    assert "Read a document" in text
    assert "solar.pdf" in text
    assert "disk full" in text
    assert "document_id" not in text
    page = staff_client(*JOBS, email="2@example.org").get(at("change", failed_job)).content.decode()
    assert "disk full" in page
    assert "15" in page


def test_retry_begins_with_all_attempts(failed_job: Any) -> None:
    client = staff_client(*JOBS)
    client.post(at("retry", failed_job))
    job: Any = ProcrastinateJob.objects.get()
    assert (job.status, job.attempts, job.lock, job.queue_name) == (
        "todo",
        0,
        failed_job.lock,
        failed_job.queue_name,
    )
    assert not JobFailure.objects.exists()
    assert AuditEntry.unscoped.get(target_type="job").details == {"task": INGEST_TASK, "done": "queued anew"}


def test_work_that_is_queued_already_is_not_queued_twice(db: None) -> None:
    task = app.configure_task("tidy_caches", queueing_lock="tidy_caches")
    for status in ("failed", "todo"):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, args, status)"
                " VALUES ('default', %s, 'tidy_caches', '{\"timestamp\": 1}', %s)",
                [task.job.task_name, status],
            )
    failed: Any = ProcrastinateJob.objects.get(status="failed")
    assert retry_jobs([failed.pk]) == 0
    assert [job.status for job in ProcrastinateJob.objects.all()] == ["todo"]


def test_dismissed_jobs_are_gone_and_waiting_ones_stay(failed_job: Any, document: Document) -> None:
    defer_for_document(INGEST_TASK, document.pk)
    client = staff_client(*JOBS)
    everything = list(ProcrastinateJob.objects.values_list("pk", flat=True))
    client.post(reverse(PAGE), {"action": "dismiss_selected", "_selected_action": everything})
    assert [job.status for job in ProcrastinateJob.objects.all()] == ["todo"]
    assert dismiss_jobs(everything) == 0
    assert queue_state().waiting == 1
    assert queue_state().oldest == "Read a document"
    assert queue_state().oldest_since


def test_failed_documents_are_listed_until_dismissed_or_tried_again(document: Document) -> None:
    Document.unscoped.update(status=Status.FAILED, error_code="internal", error_message="Ask for help.")
    client = staff_client(*JOBS, *DOCUMENTS)
    assert "Ask for help." in client.get(reverse(PAGE)).content.decode()
    client.post(reverse("admin:failed_document_dismiss", args=[document.pk]))
    assert "Ask for help." not in client.get(reverse(PAGE)).content.decode()
    document.refresh_from_db()
    assert document.status == Status.FAILED
    client.post(reverse("admin:failed_document_retry", args=[document.pk]))
    document.refresh_from_db()
    assert (document.status, document.failure_dismissed_at) == (Status.QUEUED, None)


def test_each_part_needs_its_permission(failed_job: Any, document: Document) -> None:
    Document.unscoped.update(status=Status.FAILED, error_message="Ask for help.")
    viewer = staff_client("locus.view_queuedjob")
    text = viewer.get(reverse(PAGE)).content.decode()
    assert "Ask for help." not in text
    assert "retry_selected" not in text
    assert "dismiss_selected" not in text
    assert viewer.post(at("retry", failed_job)).status_code == 403
    assert viewer.post(at("dismiss", failed_job)).status_code == 403
    for name in ("retry", "dismiss"):
        target = reverse(f"admin:failed_document_{name}", args=[document.pk])
        assert viewer.post(target).status_code == 403
    assert staff_client(email="2@example.org").get(reverse(PAGE)).status_code == 403


def test_running_and_waiting_jobs_have_names_too(document: Document) -> None:
    defer_for_document(INGEST_TASK, document.pk)
    client = staff_client(*JOBS)
    assert "solar.pdf" not in client.get(reverse(PAGE)).content.decode()
    assert "solar.pdf" in client.get(reverse(PAGE), {"state": "todo"}).content.decode()


def test_the_page_takes_as_many_queries_for_many_jobs(cast: Cast, django_assert_max_num_queries: Any) -> None:
    for number in range(10):
        defer_for_document(INGEST_TASK, indexed_document(cast.team, name=f"{number}.pdf").pk)
    client: Client = staff_client(*JOBS, *DOCUMENTS)
    with django_assert_max_num_queries(25):
        client.get(reverse(PAGE), {"state": "todo"})


def test_every_task_has_words() -> None:
    """A task that has none is shown with its name in code."""
    ours = {name for name in app.tasks if not name.startswith(("builtin", "procrastinate."))}
    assert ours <= set(TASKS), ours - set(TASKS)


def test_reasons_quote_no_document() -> None:
    def fail(error: Exception) -> str:
        with pytest.raises(type(error)) as caught:
            raise error
        return reason_of(caught.value)

    assert "disk full" in fail(OperationalError("disk full\nDETAIL: row (secret)"))
    assert "secret" not in fail(OperationalError("disk full\nDETAIL: row (secret)"))
    told = fail(ValueError("a secret sentence of a document"))
    assert told.startswith("ValueError in tests/locus/test_failed_work.py, line ")
    assert "secret" not in told


@pytest.mark.django_db(transaction=True)
def test_a_worker_keeps_the_failed_job_and_its_reason() -> None:
    task = app.configure_task("pack_segments", queue="default")
    task.defer(workspace_id="no-uuid", external_user_id=None, session_id=None)
    with live_worker():
        deadline = time.monotonic() + 60
        while not JobFailure.objects.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
    job: Any = ProcrastinateJob.objects.get(task_name="pack_segments")
    assert job.status == "failed"
    assert JobFailure.objects.get(pk=job.pk).reason.startswith("ValueError in kb/index/scope_jobs.py, line ")
