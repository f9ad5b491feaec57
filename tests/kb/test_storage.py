"""The files of documents in a storage that has no paths: the whole life of a document, and local copies."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

import kb
from core.errors import DocumentError, NotFound
from core.locations import Box, Page, PageBox
from ingestion.pipeline import ingest
from kb.doctor import CHECKS, examine, repair
from kb.documents import FILE_LOST, document_folder, original_file, page_cache
from kb.housekeeping import tidy_caches
from kb.models import Chunk, Document, Status
from kb.page_images.rendering import crop_png
from kb.storage import StoredFile
from tests.conftest import Cast
from tests.factories import indexed_document, pdf_of
from tests.testing.paths import SAMPLES

API = "/api/v1/documents"
HOURS_AGO = time.time() - 2 * 3600
OnCommit = Callable[..., Any]


@pytest.fixture
def remote(settings: Any, tmp_path: Path) -> Path:
    """Keep documents in a storage without paths; return the folder where it hides them."""
    settings.DATA_DIR = tmp_path / "data"
    options = {"location": str(tmp_path / "remote")}
    backend = {"BACKEND": "tests.testing.remote_storage.RemoteStorage", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"default": backend}
    return tmp_path / "remote"


def copies() -> list[Path]:
    """Return the local copies that are there now."""
    from django.conf import settings

    return list((Path(settings.DATA_DIR) / "cache" / "copies").glob("*"))


def found() -> dict[str, int]:
    return {result.check.code: result.count for result in map(examine, CHECKS) if result.count}


def repaired() -> None:
    for check in CHECKS:
        repair(examine(check))


def streamed(reply: Any) -> bytes:
    async def blocks() -> bytes:
        return b"".join([block async for block in reply.streaming_content])

    return asyncio.run(blocks())


def upload(cast: Cast, name: str, content: bytes) -> Document:
    body = {"files": SimpleUploadedFile(name, content), "workspace_id": str(cast.team.pk)}
    reply = Client().post(API, body, headers=cast.headers("alice"))
    assert reply.status_code == 202, reply.content
    return Document.unscoped.get(pk=reply.json()["documents"][0]["id"])


def test_the_life_of_a_document(
    cast: Cast, remote: Path, django_capture_on_commit_callbacks: OnCommit
) -> None:
    client, headers = Client(), cast.headers("alice")
    content = (SAMPLES / "report.pdf").read_bytes()
    document = upload(cast, "report.pdf", content)
    with pytest.raises(NotImplementedError):
        document.file.path  # noqa: B018
    assert (remote / document_folder(document.pk) / "original").read_bytes() == content

    ingest(document.pk)
    document.refresh_from_db()
    assert document.status == Status.READY
    assert Chunk.unscoped.filter(document=document).exists()

    page = client.get(f"{API}/{document.pk}/pages/1?width=300", headers=headers)
    assert (page.status_code, page["Content-Type"]) == (200, "image/png")
    area = PageBox(Box(0, 0, 100, 50), Page(1, 595, 842))
    assert crop_png(original_file(document), page_cache(document), area, 90).startswith(b"\x89PNG")

    part = client.get(f"{API}/{document.pk}/file", headers=headers | {"Range": "bytes=100-299"})
    assert (part.status_code, streamed(part)) == (206, content[100:300])
    assert part["Content-Range"] == f"bytes 100-299/{len(content)}"
    whole = client.get(f"{API}/{document.pk}/file", headers=headers)
    assert (whole.status_code, streamed(whole)) == (200, content)

    other = pdf_of("The wind park of Tarifa turns day and night.")
    with django_capture_on_commit_callbacks(execute=True):
        reply = client.generic("PUT", f"{API}/{document.pk}/file", other, "application/pdf", headers=headers)
    assert reply.status_code == 202
    assert not page_cache(document).exists()
    ingest(document.pk)
    [chunk] = Chunk.unscoped.filter(document=document, replaced_by=None)
    assert "Tarifa" in chunk.text
    [kept] = (remote / document_folder(document.pk)).iterdir()
    assert kept.read_bytes() == other

    client.get(f"{API}/{document.pk}/pages/1?width=300", headers=headers)
    assert found() == {}
    assert copies() == []
    with django_capture_on_commit_callbacks(execute=True):
        reply = client.delete(f"{API}/{document.pk}", headers=headers)
    assert reply.json()["deleted"]["files"] == 1
    assert not list(remote.rglob("*"))
    assert not page_cache(document).exists()


def test_scans_are_recognised_from_a_copy(cast: Cast, remote: Path) -> None:
    document = upload(cast, "scan.png", (SAMPLES / "scan.png").read_bytes())
    ingest(document.pk)
    document.refresh_from_db()
    assert (document.quality or {})["recognised"]
    assert copies() == []


def test_doctor_compares_a_storage_without_folders(cast: Cast, remote: Path) -> None:
    document, lost = indexed_document(cast.team), indexed_document(cast.team, "Another text.")
    orphan = default_storage.save(f"{document_folder(document.pk)}/original_x1", ContentFile(b"x"))
    foreign = default_storage.save("documents/readme.txt", ContentFile(b"x"))
    os.utime(remote / orphan, (HOURS_AGO, HOURS_AGO))
    default_storage.delete(lost.file.name)
    assert found() == {"orphan_files": 1, "missing_files": 1}
    repaired()
    assert found() == {}
    lost.refresh_from_db()
    assert (lost.status, lost.error_message) == (Status.FAILED, FILE_LOST)
    assert not default_storage.exists(orphan)
    assert default_storage.exists(foreign)
    assert default_storage.exists(document.file.name)


def test_nothing_is_given_up_in_an_empty_storage(cast: Cast, remote: Path) -> None:
    """It is the wrong one, or not there: an object store has no folder to tell them apart."""
    document = indexed_document(cast.team)
    default_storage.delete(document.file.name)
    assert found() == {"missing_files": 1}
    repaired()
    document.refresh_from_db()
    assert document.status == Status.READY


def asking_for_paths(*rooms: str) -> set[str]:
    """Return the modules of these rooms that ask a storage for a path."""
    asks = re.compile(r"\.file\.path|storage\.path\(|MEDIA_ROOT")
    root = Path(kb.__file__).parents[1]
    files = (file for room in rooms for file in (root / room).rglob("*.py"))
    return {str(file.relative_to(root)) for file in files if asks.search(file.read_text())}


def test_nothing_but_its_own_module_asks_for_a_path() -> None:
    rooms = ("accounts", "assistants", "core", "extract", "ingestion", "kb", "locus", "runs", "search")
    # Static files are another storage.
    expected = {"kb/storage.py", "locus/settings/storage.py", "locus/serve/installation.py"}
    assert asking_for_paths(*rooms) == expected


def test_tests_ask_for_no_path_either() -> None:
    """They pass beside a bucket, too (`bin/test --engines s3`)."""
    assert asking_for_paths("tests") == {"tests/testing/stored.py", "tests/kb/test_storage.py"}


# --- Local copies ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("files_in_folder")
def test_in_a_folder_the_copy_is_the_file_itself(cast: Cast) -> None:
    document = indexed_document(cast.team)
    with StoredFile.of(document).local_copy() as path:
        assert path == Path(document.file.path)
    assert path.exists()


def test_elsewhere_a_copy_lasts_for_the_block(cast: Cast, remote: Path) -> None:
    document = indexed_document(cast.team)
    with StoredFile.of(document).local_copy() as path:
        assert [path] == copies()
        assert path.read_bytes() == default_storage.open(document.file.name).read()
        assert path.stat().st_mode & 0o077 == 0
    assert copies() == []


@pytest.mark.parametrize("place", ["files_in_folder", "remote"])
def test_there_is_no_copy_of_a_lost_file(
    cast: Cast, place: str, request: pytest.FixtureRequest, settings: Any, tmp_path: Path
) -> None:
    request.getfixturevalue(place)
    settings.DATA_DIR = tmp_path / "data"
    document = indexed_document(cast.team)
    default_storage.delete(document.file.name)
    with pytest.raises(NotFound), StoredFile.of(document).local_copy():
        pass
    with pytest.raises(NotFound):
        StoredFile.of(document).version()
    Document.unscoped.update(status=Status.QUEUED)
    with pytest.raises(DocumentError, match="lost"):
        ingest(document.pk)
    assert copies() == []


def test_what_a_killed_process_left_is_removed(
    cast: Cast, remote: Path, django_capture_on_commit_callbacks: OnCommit
) -> None:
    document, other = indexed_document(cast.team), indexed_document(cast.team, "Another text.")
    old, young = (page_cache(document).parents[1] / "copies" / f"{other.pk}.{name}" for name in ("a", "b"))
    mine = old.with_name(f"{document.pk}.c")
    old.parent.mkdir(parents=True)
    for copy in (old, young, mine):
        copy.write_bytes(b"x")
    with django_capture_on_commit_callbacks(execute=True):
        Client().delete(f"{API}/{document.pk}", headers=cast.headers("alice"))
    assert sorted(copies()) == [old, young]
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    tidy_caches(0)
    assert copies() == [young]


def test_a_picture_of_a_page_is_of_the_present_file(cast: Cast, remote: Path) -> None:
    """Which page can't be drawn is remembered for a file, not for its name."""
    document = indexed_document(cast.team)
    name = document.file.name
    before = StoredFile.of(document).version()
    default_storage.delete(name)
    assert default_storage.save(name, ContentFile(b"another")) == name
    assert StoredFile.of(document).version() != before
    assert StoredFile.of(document) == StoredFile.of(document)
