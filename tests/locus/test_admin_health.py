"""Health in the admin panel: the worker examines and repairs, the page shows how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import AuditEntry, User
from core.errors import Conflict
from kb.doctor import jobs
from kb.doctor.jobs import KEPT, TASK, examine_knowledge_base, start_examination
from kb.models import Document, Examination
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.test_dashboard import root as root
from tests.locus.test_dashboard import staff_with
from tests.testing.stored import store_apart

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture(autouse=True)
def _own_files(settings: Any, tmp_path: Path) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    settings.DATA_DIR = tmp_path
    store_apart(settings, tmp_path / "files")


@pytest.fixture
def miscounted(cast: Cast) -> Document:
    """A document whose number of chunks is wrong."""
    document = indexed_document(cast.team)
    Document.unscoped.filter(pk=document.pk).update(chunk_count=7)
    return document


def work() -> None:
    """Do the queued job, as the worker does."""
    job = ProcrastinateJob.objects.get(task_name=TASK, status="todo")
    ProcrastinateJob.objects.filter(pk=job.pk).update(status="succeeded")
    examine_knowledge_base(**job.args)


def text(client: Client) -> str:
    return client.get("/admin/health/").content.decode()


def test_from_an_examination_to_its_repair(root: Client, miscounted: Document) -> None:
    assert "Nothing was examined yet" in text(root)
    assert root.post("/admin/health/examine/").status_code == 302
    assert "Waiting for the worker" in text(root) and "data-look-again" in text(root)
    work()
    found = text(root)
    assert "Documents with a wrong number of chunks" in found and str(miscounted.pk) in found
    assert "started by root@example.org" in found and "data-look-again" not in found
    assert Document.unscoped.get().chunk_count == 7
    assert "Count them" in root.get("/admin/health/repair/").content.decode()
    assert root.post("/admin/health/repair/").status_code == 302
    work()
    assert Document.unscoped.get().chunk_count == 1
    [finding] = Examination.objects.all()[0].findings
    assert (finding["repaired"], finding["remaining"]) == (1, 0)
    entry = AuditEntry.unscoped.get(action="repair.started")
    assert entry.user == User.objects.get(email="root@example.org")
    assert entry.details == {"findings": ["wrong_count"]}
    root.post("/admin/health/examine/")
    work()
    assert "jobs agree" in text(root)
    assert "There is nothing to repair" in root.get("/admin/health/repair/").content.decode()


def test_one_at_a_time(root: Client, cast: Cast) -> None:
    start_examination(cast.alice, is_repair=False)
    with pytest.raises(Conflict):
        start_examination(cast.alice, is_repair=True)
    reply = root.post("/admin/health/repair/", follow=True)
    assert "An examination is under way" in reply.content.decode()
    assert ProcrastinateJob.objects.filter(task_name=TASK).count() == 1
    assert not AuditEntry.unscoped.filter(action="repair.started").exists()


def test_a_lost_job_does_not_block_the_next(cast: Cast) -> None:
    lost = start_examination(cast.alice, is_repair=False)
    ProcrastinateJob.objects.filter(task_name=TASK).update(status="failed")
    start_examination(cast.alice, is_repair=False)
    lost.refresh_from_db()
    assert lost.finished_at is not None and "lost" in lost.error


def test_an_examination_that_fails_says_so(root: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(jobs, "examine_all", broken)
    start_examination(cast.alice, is_repair=False)
    work()
    assert "It could not be finished: OSError: the disk is gone" in text(root)


def test_some_are_kept(cast: Cast) -> None:
    for _ in range(KEPT + 3):
        start_examination(cast.alice, is_repair=False)
        work()
    assert Examination.objects.count() == KEPT


def test_progress_is_stored_and_shown(root: Client, cast: Cast) -> None:
    examination = start_examination(cast.alice, is_repair=True)
    jobs._progress(examination, 0.45, 0.1)("Files that belong to no document: delete them", 0.5)
    assert "50 %. Files that belong to no document: delete them." in text(root)


def test_looking_and_repairing_are_two_permissions(cast: Cast, miscounted: Document) -> None:
    client = staff_with("locus.view_health")
    client.post("/admin/health/examine/")
    work()
    assert "Repair …" not in text(client) and "Examine now" in text(client)
    assert client.get("/admin/health/repair/").status_code == 403
    assert client.post("/admin/health/repair/").status_code == 403
    other = Client()
    other.force_login(User.objects.create_user("other@example.org", is_staff=True))
    assert other.get("/admin/health/").status_code == 403
    assert other.post("/admin/health/examine/").status_code == 403
