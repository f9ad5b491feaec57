"""Backups: made while people upload and delete, and restored into an empty folder."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import AsyncClient

from kb.deletion import delete_document
from kb.models import Document
from locus.backup import creating
from locus.backup.creating import create_backup
from locus.backup.layout import BackupError, BackupFolder
from locus.backup.restoring import check_backup, choose_backup
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.engines import EMBEDDED
from tests.testing.models import keep_models
from tests.testing.paths import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
ASK = """
from django.conf import settings
settings.ALLOWED_HOSTS += ["testserver"]
from tests.locus.test_backup import answer_to
print("ANSWER", answer_to({key!r}))
"""
QUESTION = "Who owns the solar farm in Almería?"


def answer_to(key: str) -> str:
    """Ask this process's installation; return the answer, and the chunks that it rests on."""
    reply = asyncio.run(
        AsyncClient().post(
            "/api/v1/tools/rag_search",
            json.dumps({"query": QUESTION}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
    )
    assert reply.status_code == 200, reply.content
    result = reply.json()
    return json.dumps([result["response"], [each["chunk_id"] for each in result["contexts"]]])


@pytest.fixture
def team() -> Cast:
    """The cast, committed."""
    return make_cast()


def true_document(team: Cast, text: str) -> Document:
    """Return a document whose row has the digest of its file, as uploads have."""
    document = indexed_document(team.team, text)
    with document.file.open() as file:
        document.sha256 = hashlib.sha256(file.read()).hexdigest()
    document.save(update_fields=["sha256"])
    return document


def quiet(_: str) -> None:
    """Say nothing."""


def objects(folder: Path) -> set[str]:
    return {each.name for each in (folder / "objects").glob("*/*")}


def names_in(folder: Path) -> set[str]:
    return {file.name for file in choose_backup(BackupFolder(folder), None).files()}


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What `subprocess` needs to run commands on an installation of its own, without anything in it."""
    data = tmp_path / "restored"
    data.mkdir()
    keep_models(data)
    others = ("DATABASE_URL", "SECRET_KEY", "KEY_PEPPER", "ENCRYPTION_KEY", "PGOPTIONS")
    kept = {name: value for name, value in os.environ.items() if name not in others}
    yield {
        "cwd": ROOT,
        "env": kept | {"DATA_DIR": str(data), "ALLOW_ROOT": "on"} | EMBEDDED,
        "capture_output": True,
        "text": True,
        "check": False,
    }


def manage(installation: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "manage.py", *arguments], **installation)


def test_made_during_uploads_and_restored_it_answers_the_same(
    team: Cast, tmp_path: Path, installation: dict[str, Any], settings: Any
) -> None:
    folder = tmp_path / "backups"
    for number in range(5):
        indexed_document(team.team, f"The solar farm number {number} in Almería is owned by the town itself.")
    stop = threading.Event()
    added: list[Document] = []

    def upload_and_delete() -> None:
        try:
            while not stop.is_set():
                with transaction.atomic():  # as the pipeline does
                    document = indexed_document(team.team, f"A wind park, one of {len(added)}.")
                added.append(document)
                if len(added) % 2:
                    delete_document(document)
        finally:
            connection.close()

    thread = threading.Thread(target=upload_and_delete)
    thread.start()
    try:
        call_command("backup", str(folder), "--with-secrets", "--check", stdout=io.StringIO())
    finally:
        stop.set()
        thread.join()
    backup = choose_backup(BackupFolder(folder), None)
    assert backup.manifest().missing == []
    kept = names_in(folder)
    assert len(kept) >= 5

    done = manage(installation, "restore", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "agree" in done.stdout
    restored = Path(installation["env"]["DATA_DIR"])
    assert {str(path.relative_to(restored / "files")) for path in restored.rglob("original*")} == kept
    assert (restored / "key_pepper").read_text() == settings.KEY_PEPPER

    # What came after the moment is not in it: ask of the same documents.
    Document.unscoped.exclude(file__in=kept).delete()
    answer = answer_to(team.keys["alice"])
    assert "town" in answer
    asked = manage(installation, "shell", "-c", ASK.format(key=team.keys["alice"]))
    assert f"ANSWER {answer}" in asked.stdout, asked.stdout + asked.stderr

    again = manage(installation, "restore", str(folder))
    assert again.returncode == 1
    assert "not empty" in again.stderr
    replaced = manage(installation, "restore", str(folder), "--replace")
    assert replaced.returncode == 0, replaced.stdout + replaced.stderr


def test_a_second_backup_copies_only_what_is_new(team: Cast, tmp_path: Path) -> None:
    first = true_document(team, "A text.")
    create_backup(tmp_path, quiet)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "objects").glob("*/*")}
    second = true_document(team, "Another text.")
    said: list[str] = []
    create_backup(tmp_path, said.append)
    assert "Files: 2, of which 1 are new." in said
    assert len(objects(tmp_path)) == 2
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    assert names_in(tmp_path) == {first.file.name, second.file.name}


def test_old_backups_go_with_what_only_they_have(team: Cast, tmp_path: Path) -> None:
    gone = indexed_document(team.team)
    create_backup(tmp_path, quiet)
    delete_document(gone)
    stays = indexed_document(team.team, "Another text.")
    create_backup(tmp_path, quiet, keep=1)
    assert len(BackupFolder(tmp_path).backups()) == 1
    assert len(objects(tmp_path)) == 1
    assert names_in(tmp_path) == {stays.file.name}


def test_a_file_deleted_before_it_is_copied_takes_another_moment(
    team: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays = indexed_document(team.team)
    doomed = indexed_document(team.team, "Another text.")
    copy, passes = creating._copy_files, []

    def copy_after_a_deletion(*args: Any) -> Any:
        passes.append(1)
        if len(passes) == 1:
            return creating.Tally()  # as if it had been uploaded after the first pass
        if len(passes) == 2:
            delete_document(doomed)
        return copy(*args)

    monkeypatch.setattr(creating, "_copy_files", copy_after_a_deletion)
    said: list[str] = []
    backup = create_backup(tmp_path, said.append)
    assert len(passes) == 3
    assert "Files were deleted meanwhile; once more." in said
    assert backup.manifest().missing == []
    assert names_in(tmp_path) == {stays.file.name}
    assert [each.name for each in (tmp_path / "backups").iterdir()] == [backup.folder.name]


def test_a_file_that_was_lost_before_is_named(team: Cast, tmp_path: Path) -> None:
    lost = indexed_document(team.team)
    default_storage.delete(lost.file.name)
    assert create_backup(tmp_path, quiet).manifest().missing == [lost.file.name]
    default_storage.save(lost.file.name, ContentFile(b"for the tests that follow"))


@pytest.mark.parametrize("part", ["database.dump", "files.jsonl", "object"])
def test_damage_is_found_before_anything_is_changed(team: Cast, tmp_path: Path, part: str) -> None:
    indexed_document(team.team)
    backup = create_backup(tmp_path, quiet)
    path = next((tmp_path / "objects").glob("*/*")) if part == "object" else backup.folder / part
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(BackupError, match="damaged"):
        check_backup(BackupFolder(tmp_path), backup, quiet)


def test_a_backup_of_a_newer_version_is_refused(team: Cast, tmp_path: Path) -> None:
    backup = create_backup(tmp_path, quiet)
    manifest = json.loads((backup.folder / "manifest.json").read_text())
    manifest["migrations"].append("kb.9999_of_the_future")
    (backup.folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CommandError, match="newer"):
        call_command("restore", str(tmp_path))


def test_an_installation_in_use_is_not_replaced(team: Cast, tmp_path: Path) -> None:
    create_backup(tmp_path, quiet)
    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(tmp_path))


def test_two_at_once_are_refused(team: Cast, tmp_path: Path) -> None:
    with BackupFolder.make(tmp_path).lock(), pytest.raises(CommandError, match="Another process"):
        call_command("backup", str(tmp_path))


def test_nobody_else_may_read_a_backup(team: Cast, tmp_path: Path) -> None:
    indexed_document(team.team)
    create_backup(tmp_path / "backups", quiet, with_secrets=True)
    paths = [tmp_path / "backups", *(tmp_path / "backups").rglob("*")]
    assert not [path for path in paths if path.stat().st_mode & 0o077]


def test_a_folder_without_backups(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="It has: none"):
        call_command("restore", str(tmp_path))
