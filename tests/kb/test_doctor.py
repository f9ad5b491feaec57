"""`manage.py doctor`: every fault is made in real tables and files, found, and repaired."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import Session
from core.confinement import Confinement, available_confinement
from kb.doctor import CHECKS, examine
from kb.documents import document_folder, page_cache, reprocess
from kb.embedding import active_space, embedding_model
from kb.index.writing import settle
from kb.models import Chunk, ChunkVector, Document, EmbeddingSpace, Status
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.stored import (
    all_stored,
    is_stored,
    lose_file,
    make_old,
    name_of,
    store,
    store_apart,
)

HOURS = timedelta(hours=2)
OldFile = Callable[[str], str]


@pytest.fixture(autouse=True)
def _own_files(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    settings.DATA_DIR = tmp_path
    store_apart(settings, tmp_path / "files")


@pytest.fixture
def document(cast: Cast) -> Document:
    """A healthy document, as old as the others; a second one shows what is left alone."""
    others = indexed_document(cast.team, "Another text.", name="healthy.pdf")
    document = indexed_document(cast.team)
    # As at the end of an ingestion.
    assert settle(others.pk) and settle(document.pk)
    return document


def found() -> dict[str, int]:
    return {result.check.code: result.count for result in map(examine, CHECKS) if result.count}


def repaired() -> None:
    call_command("doctor", "--repair", "--json")
    assert found() == {}


def now(document: Document) -> Document:
    return Document.unscoped.get(pk=document.pk)


def change(document: Document, **values: Any) -> None:
    Document.unscoped.filter(pk=document.pk).update(**values)


def assert_queued(document: Document) -> None:
    assert (now(document).status, now(document).error_code) == (Status.QUEUED, "")
    assert ProcrastinateJob.objects.get().args == {"document_id": str(document.pk)}


@pytest.fixture
def old_file(monkeypatch: pytest.MonkeyPatch) -> OldFile:
    """Stores a file that is no document's, or takes one that is there, as if that were hours ago."""

    def make(name: str) -> str:
        if not default_storage.exists(name):
            store(name)
        make_old(monkeypatch, name, HOURS)
        return name

    return make


def test_a_healthy_installation_has_no_findings(
    document: Document, cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    reprocess(indexed_document(cast.team, name="waiting.pdf"))
    Client().get(f"/api/v1/documents/{document.pk}/pages/1", headers=cast.headers("alice"))
    call_command("doctor")
    assert "agree" in capsys.readouterr().out


def test_an_empty_installation_has_no_findings(db: None) -> None:
    call_command("doctor")


# --- Rows and files ----------------------------------------------------------------------------------------


def test_a_lost_file_fails_its_document(document: Document) -> None:
    lose_file(document)
    assert found() == {"missing_files": 1}
    repaired()
    lost = now(document)
    assert (lost.status, lost.error_code, lost.chunk_count) == (Status.FAILED, "corrupted", 0)
    assert "Upload the same file again" in lost.error_message
    assert not Chunk.unscoped.filter(document=document).exists()


def test_a_queued_upload_without_its_file_fails_too(document: Document) -> None:
    reprocess(document)
    lose_file(document)
    repaired()
    assert now(document).status == Status.FAILED


def test_a_failed_document_whose_file_is_lost_keeps_its_reason(document: Document) -> None:
    Chunk.unscoped.filter(document=document).delete()
    change(document, status=Status.FAILED, error_code="encrypted", error_message="Locked.", chunk_count=0)
    lose_file(document)
    repaired()
    assert (now(document).error_code, bool(now(document).file)) == ("encrypted", False)


def test_a_lost_web_page_is_fetched_again(document: Document) -> None:
    change(document, url="https://example.org/")
    lose_file(document)
    assert found() == {"missing_files": 1}
    repaired()
    assert_queued(document)


def test_a_web_page_that_waits_for_its_fetch_is_no_fault(document: Document) -> None:
    lose_file(document)
    change(document, url="https://example.org/", file="", sha256="")
    reprocess(now(document))
    assert found() == {}


@pytest.mark.usefixtures("files_in_folder")
def test_nothing_is_given_up_while_the_volume_is_away(
    document: Document, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "files").rename(tmp_path / "away")
    with pytest.raises(CommandError, match="Findings that remain: 2"):
        call_command("doctor", "--repair", "--json")
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["repaired"], "mounted" in finding["refused"]) == (0, True)
    (tmp_path / "away").rename(tmp_path / "files")
    assert found() == {}


def test_files_of_no_document_are_deleted(document: Document, old_file: OldFile) -> None:
    orphan = old_file(f"documents/{uuid4()}/original")
    superseded = old_file(f"{document_folder(document.pk)}/original_x1")
    foreign = [old_file("documents/readme.txt"), old_file("documents/notes/a"), old_file("other/b")]
    kept = old_file(f"{document_folder(document.pk)}/thumbnail")
    assert found() == {"orphan_files": 2}
    repaired()
    assert not default_storage.exists(orphan.rpartition("/")[0])
    assert all_stored() >= {*foreign, kept, name_of(document)}
    assert all_stored().isdisjoint({orphan, superseded})


def test_a_file_that_has_just_come_may_be_an_upload(document: Document) -> None:
    store(f"documents/{uuid4()}/original")
    assert found() == {}


def test_not_everything_is_deleted_when_the_database_is_the_wrong_one(
    document: Document, old_file: OldFile, capsys: pytest.CaptureFixture[str]
) -> None:
    old_file(name_of(document))
    Document.unscoped.all().delete()
    with pytest.raises(CommandError):
        call_command("doctor", "--repair", "--json")
    assert "right database" in capsys.readouterr().out
    assert is_stored(document)


# --- Chunks, vectors, jobs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [Status.READY, Status.PARTIAL])
def test_a_ready_document_without_chunks_is_queued(document: Document, status: Status) -> None:
    change(document, status=status)
    Chunk.unscoped.filter(document=document).delete()
    assert found() == {"no_chunks": 1, "wrong_index": 1}
    repaired()
    assert_queued(document)


def test_replaced_chunks_do_not_count_as_chunks(document: Document) -> None:
    ChunkVector.objects.filter(chunk__document=document).delete()
    Chunk.unscoped.filter(document=document).update(replaced_by=[])
    assert found() == {"no_chunks": 1, "wrong_index": 1}


def test_a_wrong_count_is_set_right(document: Document) -> None:
    change(document, chunk_count=7)
    assert found() == {"wrong_count": 1}
    repaired()
    assert (now(document).chunk_count, now(document).status) == (1, Status.READY)


def test_chunks_of_a_failed_document_are_deleted(document: Document) -> None:
    change(document, status=Status.FAILED, error_code="timeout")
    assert found() == {"chunks_of_failed": 1}
    repaired()
    assert not Chunk.unscoped.filter(document=document).exists()
    assert (now(document).chunk_count, now(document).error_code) == (0, "timeout")


def test_a_live_chunk_without_a_vector_queues_its_document(document: Document) -> None:
    ChunkVector.objects.filter(chunk__document=document).delete()
    assert found() == {"no_vectors": 1}
    repaired()
    assert_queued(document)


def test_only_vectors_of_the_active_space_count(document: Document) -> None:
    other = EmbeddingSpace.objects.create(
        model="other", revision="1", dimensions=embedding_model().dimensions
    )
    ChunkVector.objects.filter(chunk__document=document).update(space=other)
    assert found() == {"no_vectors": 1}


def test_vectors_of_replaced_chunks_are_deleted(document: Document) -> None:
    [chunk] = Chunk.unscoped.filter(document=document)
    old = Chunk.unscoped.create(
        id=uuid4(),
        document=document,
        workspace=document.workspace,
        ordinal=1,
        text="old",
        replaced_by=[chunk.pk],
    )
    vector = ChunkVector.objects.get(chunk=chunk)
    ChunkVector.objects.create(chunk=old, space=active_space(), embedding=vector.embedding)
    assert found() == {"vectors_of_replaced": 1}
    repaired()
    assert not ChunkVector.objects.filter(chunk=old).exists()
    assert ChunkVector.objects.filter(chunk=chunk).exists()
    assert Chunk.unscoped.filter(pk=old.pk).exists()


@pytest.mark.parametrize("status", [Status.QUEUED, Status.EXTRACTING, Status.INDEXING])
def test_an_unfinished_document_without_a_job_gets_one(document: Document, status: Status) -> None:
    change(document, status=status)
    assert found() == {"no_job": 1}
    repaired()
    assert_queued(document)


@pytest.mark.parametrize(("job", "faults"), [("todo", {}), ("doing", {}), ("failed", {"no_job": 1})])
def test_only_a_job_that_will_run_counts(document: Document, job: str, faults: dict[str, int]) -> None:
    reprocess(document)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET status = %s", [job])
    assert found() == faults


@pytest.mark.parametrize(
    "misplace",
    [
        lambda cast: {"workspace": cast.bob.personal_workspace},
        lambda cast: {"external_user_id": "x"},
        lambda cast: {"session": Session.unscoped.create(user=cast.alice, workspace=cast.team)},
    ],
    ids=["workspace", "external user", "session"],
)
def test_chunks_come_back_into_the_scope_of_their_document(
    document: Document, cast: Cast, misplace: Callable[[Cast], dict[str, Any]]
) -> None:
    Chunk.unscoped.filter(document=document).update(**misplace(cast))
    assert found() == {"misplaced_chunks": 1}
    repaired()
    [chunk] = Chunk.unscoped.filter(document=document)
    assert (chunk.workspace, chunk.external_user_id, chunk.session) == (cast.team, None, None)


# --- Caches ------------------------------------------------------------------------------------------------


@pytest.fixture
def cache() -> Iterator[Path]:
    yield Path(settings.DATA_DIR) / "cache"


def test_caches_of_deleted_documents_are_removed(document: Document, cache: Path) -> None:
    for folder, name in (
        ("pages", str(uuid4())),
        ("readings", f"{uuid4()}.jsonl"),
        ("models", "weights.bin"),
    ):
        (cache / folder).mkdir(parents=True, exist_ok=True)
        (cache / folder / name).mkdir() if folder == "pages" else (cache / folder / name).touch()
    assert found() == {"stale_caches": 2}
    repaired()
    assert [path.name for path in cache.glob("*/*")] == ["weights.bin"]


def test_page_images_older_than_the_file_are_removed(document: Document, cast: Cast) -> None:
    Client().get(f"/api/v1/documents/{document.pk}/pages/1", headers=cast.headers("alice"))
    [image] = page_cache(document).iterdir()
    assert found() == {}
    hours_ago = (timezone.now() - HOURS).timestamp()
    os.utime(image, (hours_ago, hours_ago))
    assert found() == {"stale_caches": 1}
    repaired()
    assert not page_cache(document).exists()


# --- The command -------------------------------------------------------------------------------------------


def test_without_repair_nothing_changes(document: Document, capsys: pytest.CaptureFixture[str]) -> None:
    change(document, chunk_count=7)
    with pytest.raises(CommandError, match="Findings that remain: 1") as remaining:
        call_command("doctor")
    out = capsys.readouterr().out
    assert remaining.value.returncode == 1
    assert now(document).chunk_count == 7
    assert "wrong number of chunks" in " ".join(out.split())


def test_json_says_what_was_found_and_done(document: Document, capsys: pytest.CaptureFixture[str]) -> None:
    change(document, chunk_count=7)
    call_command("doctor", "--repair", "--json")
    said = json.loads(capsys.readouterr().out)
    del said["protection"]
    assert said == {
        "findings": [
            {
                "code": "wrong_count",
                "what": "Documents with a wrong number of chunks",
                "remedy": "count them",
                "count": 1,
                "examples": [{"subject": str(document.pk), "detail": "it has 1"}],
                "repaired": 1,
                "refused": None,
            }
        ],
        "remaining": 0,
    }


def test_many_faults_at_once_are_all_repaired(document: Document, cast: Cast, old_file: OldFile) -> None:
    failed = indexed_document(cast.team, name="failed.pdf")
    change(failed, status=Status.FAILED, error_code="timeout", chunk_count=3)
    lose_file(failed)
    Chunk.unscoped.filter(document=document).update(external_user_id="x")
    ChunkVector.objects.filter(chunk__document=document).delete()
    old_file(f"documents/{uuid4()}/original")
    assert set(found()) == {
        "misplaced_chunks",
        "orphan_files",
        "missing_files",
        "chunks_of_failed",
        "no_vectors",
    }
    repaired()


def test_a_fault_that_went_away_meanwhile_is_left_alone(document: Document) -> None:
    """Between finding and repairing, a worker may have done its part."""
    by_code = {check.code: check for check in CHECKS}
    change(document, chunk_count=7)
    [finding] = by_code["wrong_count"].find()
    change(document, chunk_count=1)
    by_code["no_chunks"].repair(finding)
    by_code["no_vectors"].repair(finding)
    by_code["no_job"].repair(finding)
    by_code["missing_files"].repair(finding)
    assert now(document).status == Status.READY
    assert not ProcrastinateJob.objects.exists()


def test_it_reports_what_protects_the_installation(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor", "--json")
    protection = {each["code"]: each for each in json.loads(capsys.readouterr().out)["protection"]}
    confinement = available_confinement()
    assert protection["reading"] == {
        "code": "reading",
        "state": f"Files are read in a sandbox: {confinement}.",
        "missing": confinement.missing,
    }
    assert "The database's role is " in protection["database_role"]["state"]
    assert bool(protection["account"]["missing"]) == (os.geteuid() == 0)


@pytest.mark.parametrize(
    ("confinement", "named", "gaps"),
    [
        (Confinement(7, True), "Landlock 7 and seccomp", []),
        (Confinement(0, True), "seccomp", ["No Landlock"]),
        (Confinement(1, False), "Landlock 1", ["Landlock 1 is old", "No seccomp"]),
        (Confinement(0, False), "only limits on memory and time", ["No Landlock", "No seccomp"]),
    ],
)
def test_a_confinement_that_the_kernel_lacks_is_named(
    confinement: Confinement, named: str, gaps: list[str]
) -> None:
    assert str(confinement) == named
    assert len(confinement.missing) == len(gaps)
    assert all(map(str.startswith, confinement.missing, gaps))
