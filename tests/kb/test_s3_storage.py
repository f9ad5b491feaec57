"""Documents in an object store: their life, streams, signed downloads, and what its death costs."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from procrastinate.jobs import Job
from storages.backends.s3 import ReadBytesWrapper

from core.errors import Overloaded, StorageUnavailable
from ingestion.captioning.pictures import _Kept
from ingestion.checkpoint import Checkpoint
from ingestion.jobs import Retries
from ingestion.pipeline import ingest
from kb import s3_storage
from kb.doctor import CHECKS, examine
from kb.documents import document_folder
from kb.models import Chunk, Document, Status
from kb.storage import StoredFile
from locus.s3_options import s3_options
from tests.conftest import Cast
from tests.factories import pdf_of
from tests.testing.object_store import ObjectStore, object_store
from tests.testing.paths import SAMPLES

API = "/api/v1/documents"
OnCommit = Callable[..., Any]
LARGE = bytes(range(256)) * 4096 * 20  # 20 MiB: three parts of an upload


@pytest.fixture(scope="module")
def _store() -> Iterator[ObjectStore]:
    with object_store() as store:
        yield store


@pytest.fixture
def store(_store: ObjectStore, settings: Any, tmp_path: Path) -> Iterator[ObjectStore]:
    """The files of documents are in an empty bucket, and no other test has left page images."""
    settings.DATA_DIR = tmp_path
    backend = {"BACKEND": "kb.s3_storage.S3Storage", "OPTIONS": s3_options(**_store.options())}
    settings.STORAGES = settings.STORAGES | {"default": backend}
    settings.STORAGE = "s3"
    yield _store
    _store.empty()


def upload(cast: Cast, name: str, content: bytes) -> Any:
    body = {"files": SimpleUploadedFile(name, content), "workspace_id": str(cast.team.pk)}
    return Client().post(API, body, headers=cast.headers("alice"))


def uploaded(cast: Cast, name: str, content: bytes) -> Document:
    reply = upload(cast, name, content)
    assert reply.status_code == 202, reply.content
    return Document.unscoped.get(pk=reply.json()["documents"][0]["id"])


def streamed(reply: Any) -> bytes:
    async def blocks() -> bytes:
        return b"".join([block async for block in reply.streaming_content])

    return asyncio.run(blocks())


def faults() -> dict[str, int]:
    return {result.check.code: result.count for result in map(examine, CHECKS) if result.count}


def test_the_life_of_a_document(
    cast: Cast, store: ObjectStore, django_capture_on_commit_callbacks: OnCommit
) -> None:
    client, headers = Client(), cast.headers("alice")
    content = (SAMPLES / "report.pdf").read_bytes()
    document = uploaded(cast, "report.pdf", content)
    assert store.keys() == [f"{document_folder(document.pk)}/original"]
    ingest(document.pk)
    document.refresh_from_db()
    assert document.status == Status.READY
    page = client.get(f"{API}/{document.pk}/pages/1?width=300", headers=headers)
    assert (page.status_code, page["Content-Type"]) == (200, "image/png")
    part = client.get(f"{API}/{document.pk}/file", headers=headers | {"Range": "bytes=100-299"})
    assert (part.status_code, streamed(part)) == (206, content[100:300])

    other = pdf_of("The wind park of Tarifa turns day and night.")
    with django_capture_on_commit_callbacks(execute=True):
        reply = client.generic("PUT", f"{API}/{document.pk}/file", other, "application/pdf", headers=headers)
    assert reply.status_code == 202
    [key] = store.keys()
    assert key != f"{document_folder(document.pk)}/original"
    ingest(document.pk)
    [chunk] = Chunk.unscoped.filter(document=document, replaced_by=None)
    assert "Tarifa" in chunk.text
    assert faults() == {}
    with django_capture_on_commit_callbacks(execute=True):
        client.delete(f"{API}/{document.pk}", headers=headers)
    assert store.keys() == []


def test_a_name_is_never_given_twice(store: ObjectStore) -> None:
    first = default_storage.save("documents/a/original", ContentFile(b"one"))
    second = default_storage.save("documents/a/original", ContentFile(b"two"))
    assert first != second
    assert default_storage.open(first).read() == b"one"


def test_a_file_is_read_from_any_position(store: ObjectStore) -> None:
    name = default_storage.save("documents/a/original", ContentFile(LARGE))
    with default_storage.open(name) as file:
        assert file.seek(-3, io.SEEK_END) == len(LARGE) - 3
        assert file.read() == LARGE[-3:]
        file.seek(5_000_001)
        assert file.read(7) == LARGE[5_000_001:5_000_008]
        file.seek(0)
        assert file.read() == LARGE
        assert file.read() == b""


def test_parts_of_two_files_are_never_mixed(store: ObjectStore) -> None:
    """Somebody may write to the bucket beside us."""
    name = default_storage.save("documents/a/original", ContentFile(LARGE))
    with default_storage.open(name) as file:
        file.read(1)
        store.client().put_object(Bucket="locus-files", Key=name, Body=b"y" * len(LARGE))
        file.seek(9_000_000)
        with pytest.raises(StorageUnavailable):
            file.read(1)


def test_what_is_not_there(store: ObjectStore) -> None:
    for ask in (default_storage.open, default_storage.size, default_storage.get_modified_time):
        with pytest.raises(FileNotFoundError):
            ask("documents/a/original")
    assert default_storage.listdir("documents/a") == ([], [])
    default_storage.delete("documents/a/original")


def test_recognised_units_and_descriptions_are_where_every_worker_finds_them(
    cast: Cast, store: ObjectStore
) -> None:
    document = uploaded(cast, "scan.png", (SAMPLES / "scan.png").read_bytes())
    asked: list[str] = []

    def ask() -> str:
        asked.append("once")
        return "A boat."

    kept = _Kept(document.pk, "a model")
    for _ in range(2):
        assert kept.get(b"png", ask) == "A boat."
    assert len(asked) == 1
    assert "description-" in " ".join(store.keys())
    ingest(document.pk)
    document.refresh_from_db()
    assert (document.quality or {})["recognised"]
    assert list(Checkpoint(document.pk, document.sha256).units()) == []
    assert "reading-" not in " ".join(store.keys())


def test_a_copy_needs_room(cast: Cast, store: ObjectStore, settings: Any) -> None:
    document = uploaded(cast, "report.pdf", (SAMPLES / "report.pdf").read_bytes())
    settings.MIN_FREE_DISK_BYTES = 2**62
    with pytest.raises(Overloaded, match="too full"), StoredFile.of(document).local_copy():
        pass


# --- Signed downloads --------------------------------------------------------------------------------------


def test_programs_are_sent_to_the_store(cast: Cast, store: ObjectStore, settings: Any) -> None:
    settings.S3_SIGNED_DOWNLOADS = True
    content = (SAMPLES / "report.pdf").read_bytes()
    document = uploaded(cast, "Jährlicher “Bericht”.pdf", content)
    ingest(document.pk)
    client, headers = Client(), cast.headers("alice")
    sent = client.get(f"{API}/{document.pk}/file", headers=headers)
    assert sent.status_code == 302
    reply = httpx.get(sent["Location"])
    assert (reply.status_code, reply.content) == (200, content)
    assert reply.headers["Content-Type"] == "application/pdf"
    assert reply.headers["Content-Disposition"].startswith("inline")
    part = httpx.get(sent["Location"], headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.content) == (206, content[5:10])
    # Nobody can make another address of it.
    assert httpx.get(sent["Location"].replace("original", "other")).status_code == 403
    stranger = client.get(f"{API}/{document.pk}/file", headers=cast.headers("charlie"))
    assert stranger.status_code == 404


def test_pages_of_ours_are_not_sent_elsewhere(cast: Cast, store: ObjectStore, settings: Any) -> None:
    """Their policy lets them ask this server alone."""
    settings.S3_SIGNED_DOWNLOADS = True
    document = uploaded(cast, "report.pdf", (SAMPLES / "report.pdf").read_bytes())
    headers = cast.headers("alice") | {"Sec-Fetch-Dest": "empty"}
    assert Client().get(f"{API}/{document.pk}/file", headers=headers).status_code == 200


def test_what_could_run_scripts_is_a_download_there_too(
    cast: Cast, store: ObjectStore, settings: Any
) -> None:
    settings.S3_SIGNED_DOWNLOADS = True
    document = uploaded(cast, "page.html", b"<p>Hello</p><script>alert(1)</script>")
    ingest(document.pk)
    sent = Client().get(f"{API}/{document.pk}/file", headers=cast.headers("alice"))
    reply = httpx.get(sent["Location"])
    assert reply.headers["Content-Type"] == "application/octet-stream"
    assert reply.headers["Content-Disposition"].startswith("attachment")


# --- A store that dies -------------------------------------------------------------------------------------


def test_killed_in_mid_upload_nothing_accepted_is_lost(
    cast: Cast, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = uploaded(cast, "report.pdf", (SAMPLES / "report.pdf").read_bytes())
    read, reads = ReadBytesWrapper.read, []

    def read_and_kill(self: Any, *args: Any) -> bytes:
        reads.append(1)
        if len(reads) == 2:
            store.kill()
        return bytes(read(self, *args))

    monkeypatch.setattr(ReadBytesWrapper, "read", read_and_kill)
    reply = upload(cast, "large.txt", LARGE)
    assert len(reads) >= 2
    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "overloaded"
    monkeypatch.undo()
    with pytest.raises(Overloaded):
        ingest(accepted.pk)
    accepted.refresh_from_db()
    assert accepted.status != Status.FAILED
    lost = Client().get(f"{API}/{accepted.pk}/file", headers=cast.headers("alice"))
    assert (lost.status_code, lost.json()["error"]["code"]) == (503, "overloaded")

    store.start()
    assert [document.pk for document in Document.unscoped.all()] == [accepted.pk]
    assert faults() == {}
    ingest(accepted.pk)
    accepted.refresh_from_db()
    assert accepted.status == Status.READY
    again = uploaded(cast, "large.txt", LARGE)
    assert default_storage.open(again.file.name).read() == LARGE


def test_a_job_waits_for_the_store() -> None:
    job = Job(id=1, queue="q", lock=None, queueing_lock=None, task_name="t", attempts=2)
    decision = Retries().get_retry_decision(exception=StorageUnavailable(), job=job)
    assert decision is not None


def test_wrong_keys_are_an_error_with_a_code(store: ObjectStore) -> None:
    wrong = s3_storage.S3Storage(**s3_options(**store.options() | {"keys": ("another", "key")}))
    for ask in (wrong.exists, wrong.open, wrong.size, wrong.listdir):
        with pytest.raises(StorageUnavailable):
            ask("documents/a/original")
