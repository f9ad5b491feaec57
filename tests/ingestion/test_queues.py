"""Workspaces take turns: one's slow pages, many files or huge text delay another's by one job at most."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.jobs import Job
from procrastinate.jobs import Status as JobStatus

from accounts.models import Session
from ingestion import pipeline
from ingestion.queues import FairJobManager, others_wait
from kb.documents import reprocess
from kb.jobs import EMBED_TASK, FETCH_TASK, INGEST_TASK, defer_for_document, queue_of
from kb.models import ChunkVector, Document, Stage, Status
from tests.conftest import Cast, make_cast
from tests.ingestion.conftest import Upload, upload_to
from tests.ingestion.test_worker import now, wait_until, worker
from tests.testing.web import Web, reply, serving

API = "/api/v1/documents"


# --- Which job is next -------------------------------------------------------------------------------------


class Queue:
    """Jobs in the database, and a worker that takes them as the real one does, but does not do them."""

    def __init__(self) -> None:
        self.manager = FairJobManager(None)
        self.workspaces = {name: UUID(int=number) for number, name in enumerate("ABCDE", start=1)}
        self.worker_id = 0

    def put(self, queue: str, task: str = INGEST_TASK, *, lock: str | None = None, priority: int = 10) -> int:
        """Add a job to a workspace's queue, or to another."""
        named = queue_of(task, self.workspaces[queue]) if queue in self.workspaces else queue
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock)"
                " VALUES (%s, %s, %s, %s) RETURNING id",
                [named, task, priority, lock],
            )
            return int(cursor.fetchone()[0])

    def take(self, number: int, *, finish: bool = False) -> list[str]:
        """Take up to so many jobs; return whose they are. With `finish`, each ends before the next."""
        return asyncio.run(self._take(number, finish))

    async def _take(self, number: int, finish: bool) -> list[str]:
        connector = app.connector.get_worker_connector()  # type: ignore[attr-defined]
        self.manager.connector = connector
        await connector.open_async()
        try:
            self.worker_id = self.worker_id or await self.manager.register_worker()
            names = []
            for _ in range(number):
                job = await self.manager.fetch_job(None, self.worker_id)
                if job is None:
                    break
                names.append(self.name(job))
                if finish:
                    await self.manager.finish_job(job, JobStatus.SUCCEEDED, True)
            return names
        finally:
            await connector.close_async()

    def name(self, job: Job) -> str:
        names = {workspace.hex: name for name, workspace in self.workspaces.items()}
        return names.get(job.queue.removeprefix("fetch "), job.queue)


@pytest.fixture
def queue(transactional_db: None, settings: Any) -> Queue:
    settings.WORKER_CONCURRENCY, settings.FETCH_CONCURRENCY, settings.FETCHES_PER_WORKSPACE = 2, 4, 2
    return Queue()


def test_workspaces_take_turns(queue: Queue) -> None:
    """First come, first served, let one tenant's thousands of files go before another's one."""
    for name in ("A",) * 6 + ("B",) * 2 + ("C",):
        queue.put(name)
    assert queue.take(9, finish=True) == ["A", "B", "C", "A", "B", "A", "A", "A", "A"]


def test_who_comes_new_is_next(queue: Queue) -> None:
    for _ in range(4):
        queue.put("A")
    assert queue.take(2, finish=True) == ["A", "A"]
    queue.put("B")
    queue.put("C")
    assert queue.take(4, finish=True) == ["B", "C", "A", "A"]


def test_one_place_is_kept_for_who_has_no_job_under_way(queue: Queue) -> None:
    """One tenant's two long jobs used to hold every place."""
    for name in ("A", "A", "A"):
        queue.put(name)
    assert queue.take(9) == ["A", "A"]
    queue.put("B")
    queue.put("B")
    queue.put("C")
    assert queue.take(9) == ["B"]


def test_texts_go_before_vectors_in_a_workspace_and_the_background_comes_last(queue: Queue) -> None:
    queue.put("A", EMBED_TASK, priority=0)
    queue.put("default", "reembed", priority=-10)
    for name in ("A", "B", "B"):
        queue.put(name)
    assert queue.take(9, finish=True) == ["A", "B", "A", "B", "default"]
    assert list(ProcrastinateJob.objects.values_list("task_name", flat=True)) == []


def test_fetching_takes_no_place_of_those_that_compute(queue: Queue) -> None:
    """Pages of slow servers used to hold the places of all tenants' files."""
    for name in ("A",) * 5 + ("B",) * 2 + ("C",):
        queue.put(name, FETCH_TASK)
    for name in ("A", "B"):
        queue.put(name)
    taken = queue.take(99)
    assert sorted(taken) == ["A", "A", "A", "B", "B", "C"]  # 4 fetches, at most 2 of each; 2 others
    assert queue.take(99) == []


def test_jobs_of_one_document_never_run_at_once(queue: Queue) -> None:
    queue.put("A", lock="document")
    queue.put("B", EMBED_TASK, lock="document", priority=0)
    queue.put("A", FETCH_TASK, lock="document")
    assert queue.take(9) == ["A"]


def test_a_lock_that_becomes_free_while_the_worker_looks_is_not_missed(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document's vectors are queued by the job that reads it; they waited for the worker's next pause."""
    for task in (INGEST_TASK, EMBED_TASK):
        queue.put("A", task, lock="a document")

    async def look() -> list[Job | None]:
        connector = app.connector.get_worker_connector()  # type: ignore[attr-defined]
        queue.manager.connector = connector
        await connector.open_async()
        worker_id = await queue.manager.register_worker()
        reading = await queue.manager.fetch_job(None, worker_id)
        assert reading is not None
        usual = connector.execute_query_one_async

        async def and_then_the_reading_ends(*args: Any, **kwargs: Any) -> Any:
            found = await usual(*args, **kwargs)
            monkeypatch.undo()
            await queue.manager.finish_job(reading, JobStatus.SUCCEEDED, True)
            return found

        async def heard(**said: Any) -> None:
            """The worker does nothing else while it looks."""

        listening = asyncio.create_task(queue.manager.listen_for_jobs(on_notification=heard))
        await asyncio.sleep(0)
        monkeypatch.setattr(connector, "execute_query_one_async", and_then_the_reading_ends)
        try:
            return [await queue.manager.fetch_job(None, worker_id) for _ in range(2)]
        finally:
            listening.cancel()
            await connector.close_async()

    vectors, nothing = asyncio.run(look())
    assert vectors is not None and vectors.task_name == EMBED_TASK and nothing is None


def test_what_is_due_later_waits(queue: Queue) -> None:
    queue.put("A")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = now() + interval '1 hour'")
    assert queue.take(9) == []


def test_two_workers_never_take_the_same_job(queue: Queue) -> None:
    jobs = [queue.put(name) for name in "ABCDE" * 6]
    other = Queue()
    taken: list[str] = []

    def work(worker: Queue) -> None:
        taken.extend(worker.take(30, finish=True))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in (queue, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(jobs)
    assert not ProcrastinateJob.objects.exists()


def test_the_next_job_is_found_quickly_among_many(queue: Queue) -> None:
    with connection.cursor() as cursor:
        # Without a trigger for each, which takes longer than all else here.
        cursor.execute("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER")
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock)"
            " SELECT %s, %s, 10, 'lock ' || n FROM generate_series(1, 30000) AS n",
            [queue_of(INGEST_TASK, queue.workspaces["A"]), INGEST_TASK],
        )
        cursor.execute("ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER")
        cursor.execute("ANALYZE procrastinate_jobs")
    queue.put("B")
    begun = time.monotonic()
    assert queue.take(20, finish=True)[:3] == ["A", "B", "A"]
    assert time.monotonic() - begun < 10


# --- Vectors -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_huge_text_is_embedded_in_slices(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of one large text used to hold a place until the last was made."""
    monkeypatch.setattr("ingestion.vectors.BATCH", 2)
    sentence = "The keeper of lighthouse number %d writes down the wind and the water of each hour. "
    text = "\n\n".join(f"# Part {n}\n\n" + (sentence % n) * 60 for n in range(5))
    document = upload("long.md", text.encode())
    pipeline.read(document.pk, lambda: False)
    later: list[tuple[str, UUID]] = []
    monkeypatch.setattr(pipeline, "defer_for_document", lambda *job: later.append(job))
    seen = []
    for _ in range(50):
        pipeline.embed(document.pk, lambda: False, lambda: True, EMBED_TASK)
        document.refresh_from_db()
        seen.append((ChunkVector.objects.filter(chunk__document=document).count(), document.progress))
        if document.is_finished:
            break
    assert document.status == Status.READY
    assert len(seen) > 2 and later == [(EMBED_TASK, document.pk)] * (len(seen) - 1)
    assert [number for number, _ in seen[:-1]] == [2 * (n + 1) for n in range(len(seen) - 1)]
    assert [progress for _, progress in seen] == sorted(progress for _, progress in seen)
    assert seen[-1][0] == document.chunk_count


def test_who_counts_as_waiting(queue: Queue) -> None:
    mine = queue_of(EMBED_TASK, queue.workspaces["A"])
    queue.put("A", EMBED_TASK, priority=0)
    queue.put("B", FETCH_TASK)
    queue.put("default", "reembed", priority=-10)
    assert not others_wait(mine, 0)
    queue.put("A")
    assert others_wait(mine, 0)
    assert others_wait(queue_of(EMBED_TASK, queue.workspaces["B"]), 0)


# --- Pages of the web --------------------------------------------------------------------------------------


@pytest.mark.django_db
class TestPages:
    @pytest.fixture
    def web(self, settings: Any) -> Iterator[Web]:
        with serving() as web:
            settings.WEB_FETCH_ALLOW = [web.address]
            yield web

    @pytest.fixture
    def page(self, web: Web, cast: Cast) -> Document:
        url = web.page("/a", b"<p>The keepers write down wind and water, hour by hour.</p>")
        response = Client().post(API, {"urls": url}, headers=cast.headers("alice"))
        return Document.unscoped.get(pk=response.json()["documents"][0]["id"])

    def test_fetching_is_a_job_of_its_own_and_reading_the_next(
        self, page: Document, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = ProcrastinateJob.objects.get()
        assert (job.task_name, job.queue_name) == (FETCH_TASK, queue_of(FETCH_TASK, page.workspace_id))
        queued: list[tuple[str, UUID]] = []
        monkeypatch.setattr(pipeline, "defer_for_document", lambda *job: queued.append(job))
        pipeline.fetch(page.pk, lambda: False, INGEST_TASK)
        assert queued == [(INGEST_TASK, page.pk)]
        assert now(page).file
        pipeline.read(page.pk, lambda: False)
        pipeline.embed(page.pk, lambda: False)
        assert now(page).status == Status.READY

    def test_a_job_of_an_earlier_version_fetches_and_reads(self, page: Document) -> None:
        pipeline.read(page.pk, lambda: False)
        assert now(page).chunk_count == 1

    def test_processing_again_fetches_again(self, page: Document, web: Web) -> None:
        pipeline.ingest(page.pk)
        reprocess(now(page))
        pipeline.ingest(page.pk)
        assert web.paths() == ["/a", "/a"]


# --- How much is taken in ----------------------------------------------------------------------------------


class TestLimits:
    @staticmethod
    def post(cast: Cast, **form: Any) -> Any:
        return Client().post(API, form, headers=cast.headers("alice"))

    @pytest.mark.parametrize("number", [101, 140])
    def test_files_and_urls_of_one_request(self, cast: Cast, number: int) -> None:
        """One request took 999 URLs, which was work for eight hours."""
        urls = [f"https://example.org/{n}" for n in range(number)]
        files = [SimpleUploadedFile(f"{n}.txt", b"%d" % n) for n in range(number)]
        for param, form in (("urls", {"urls": urls}), ("files", {"files": files})):
            response = self.post(cast, **form)
            error = response.json()["error"]
            assert (response.status_code, error["code"], error["param"]) == (400, "validation_error", param)
        assert not Document.unscoped.exists()
        assert self.post(cast, urls=urls[:100]).status_code == 202

    def test_documents_that_wait(self, cast: Cast, settings: Any) -> None:
        """Nothing limited how much work one workspace could queue."""
        settings.MAX_WAITING_DOCUMENTS = 3
        assert self.post(cast, urls=["https://example.org/1", "https://example.org/2"]).status_code == 202
        response = self.post(cast, urls=["https://example.org/3", "https://example.org/4"])
        assert (response.status_code, response.json()["error"]["code"]) == (429, "quota_exceeded")
        assert int(response["Retry-After"]) > 0
        assert Document.unscoped.count() == 2
        # Another workspace is another matter.
        assert (
            self.post(cast, urls="https://example.org/3", workspace_id=str(cast.team.pk)).status_code == 202
        )

    def test_jobs_of_all_workspaces(self, cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who has few waiting is taken in however long the others' queue is."""
        monkeypatch.setattr("kb.api.limits.ALWAYS", 2)
        settings.MAX_WAITING_JOBS = 3
        assert self.post(cast, urls=[f"https://example.org/{n}" for n in range(3)]).status_code == 202
        refused = self.post(cast, urls="https://example.org/more")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
        assert int(refused["Retry-After"]) > 0
        team = {"workspace_id": str(cast.team.pk)}
        assert (
            self.post(cast, urls=["https://example.org/1", "https://example.org/2"], **team).status_code
            == 202
        )
        assert self.post(cast, urls="https://example.org/3", **team).status_code == 429


@pytest.mark.django_db
def test_what_somebody_waits_for_goes_first(upload: Upload, cast: Cast) -> None:
    """A file attached to a conversation waited behind all that the workspace had added before."""
    usual, again = upload("usual.txt", b"The keeper is awake."), upload("again.txt", b"The light burns.")
    pipeline.ingest(again.pk)
    reprocess(now(again))
    conversation = Session.unscoped.create(user=cast.alice, workspace=cast.team, title="Now")
    asked = upload("asked.txt", b"The wind turns.")
    Document.unscoped.filter(pk=asked.pk).update(session=conversation)
    ProcrastinateJob.objects.all().delete()
    for document in (again, usual, asked):
        defer_for_document(INGEST_TASK, document.pk)
        defer_for_document(EMBED_TASK, document.pk)
    found = ProcrastinateJob.objects.order_by("-priority", "id").values_list("args__document_id", "task_name")
    names = {str(asked.pk): "asked", str(usual.pk): "usual", str(again.pk): "again"}
    order = [(names[id], task) for id, task in found]
    assert order[:2] == [("asked", INGEST_TASK), ("usual", INGEST_TASK)]
    assert order.index(("asked", EMBED_TASK)) < order.index(("usual", EMBED_TASK))
    assert order.index(("usual", INGEST_TASK)) < order.index(("again", INGEST_TASK))
    assert min(ProcrastinateJob.objects.values_list("priority", flat=True)) >= 0


# --- The real worker ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_slow_pages_and_many_files_of_one_tenant_do_not_hold_up_anothers(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Four slow URLs of one tenant delayed a text of 25 bytes of another by two minutes."""
    cast = make_cast()
    with serving() as web:

        def slowly(request: BaseHTTPRequestHandler) -> None:
            web.over.wait(120)
            reply(request, 200, b"<p>At last.</p>")

        settings.WEB_FETCH_ALLOW = [web.address]
        monkeypatch.setenv("WEB_FETCH_ALLOW", web.address)
        urls = []
        for number in range(20):
            web.pages[f"/{number}"] = slowly
            urls.append(web.url(f"/{number}"))
        headers = cast.headers("alice")
        assert Client().post(API, {"urls": urls}, headers=headers).status_code == 202
        mine = [upload_to(cast.team, b"Keeper %d is awake." % n, f"{n}.txt") for n in range(40)]
        others = upload_to(cast.charlie.personal_workspace, b"The light burns tonight.", "small.txt")
        with worker():
            wait_until(lambda: now(others).is_finished)
            done = [document for document in mine if now(document).is_finished]
            fetching = Document.unscoped.exclude(url="").filter(stage=Stage.EXTRACTING).count()
            web.over.set()
    assert now(others).status == Status.READY
    assert len(done) < len(mine) / 2
    assert fetching <= 3
