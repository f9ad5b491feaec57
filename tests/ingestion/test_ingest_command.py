"""`manage.py ingest`: what is taken, where it goes, what is said, and that it can be repeated."""

from __future__ import annotations

import os
import tracemalloc
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.access.identity import principal_of_user
from accounts.models import Workspace
from core.errors import DocumentError
from ingestion import bulk, pipeline
from ingestion.bulk import FileOutcome, FollowedDocuments, Skipped, Summary, walk
from ingestion.management.commands import ingest as command
from kb.documents import add_document
from kb.models import Document, Status
from tests.conftest import Cast, make_cast
from tests.factories import pdf_of

SLEEP = "ingestion.management.commands.ingest.time.sleep"


@pytest.fixture(autouse=True)
def _fast_model_and_wide_terminal(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture(autouse=True)
def _no_worker_of_an_earlier_test(db: None) -> None:
    """One that was killed a moment ago counts as running, and would be waited for."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files in two folders, and what is not to be taken."""
    folder = tmp_path / "docs"
    for name in ("b.pdf", "a.pdf", "deep/er/c.pdf"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pdf_of(f"The lamp of {name} burned all night. The keeper slept until noon."))
    (folder / ".hidden.txt").write_text("no")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("no")
    return folder


def run(folder: Path, *options: str, workspace: str = "Team") -> None:
    call_command("ingest", str(folder), "--workspace", workspace, *options)


def process_all() -> None:
    """Do what the worker would."""
    for document in Document.unscoped.filter(status=Status.QUEUED):
        try:
            pipeline.ingest(document.pk)
        except DocumentError as error:
            pipeline.fail(document.pk, error)
    ProcrastinateJob.objects.all().delete()


def names() -> list[str]:
    return sorted(Document.unscoped.values_list("name", flat=True))


# --- What is taken -----------------------------------------------------------------------------------------


def test_a_walk_takes_files_by_name_and_leaves_hidden_ones(folder: Path) -> None:
    assert list(walk(folder)) == [folder / "a.pdf", folder / "b.pdf", folder / "deep/er/c.pdf"]


def test_a_named_file_is_taken_even_if_hidden(folder: Path) -> None:
    assert list(walk(folder / ".hidden.txt")) == [folder / ".hidden.txt"]
    assert list(walk(folder / ".git")) == [folder / ".git/config"]


def test_links_do_not_lead_out_or_in_circles(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("no")
    (tmp_path / "docs-too").mkdir()
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "out").symlink_to(tmp_path)
    (folder / "neighbour").symlink_to(tmp_path / "docs-too")  # its name begins like the folder's
    (folder / "circle").symlink_to(folder)
    (folder / "dangling").symlink_to(folder / "nothing")
    (folder / "z.pdf").symlink_to(folder / "a.pdf")
    found = list(walk(folder))
    skipped = {one.path.name: one.reason for one in found if isinstance(one, Skipped)}
    assert [one.name for one in found if isinstance(one, Path)] == ["a.pdf", "b.pdf", "c.pdf", "z.pdf"]
    assert skipped == {
        **dict.fromkeys(("out.txt", "out", "neighbour"), "a link that leaves the folder"),
        "dangling": "No such file or directory",
    }


def test_what_is_too_large_or_no_file_is_said(folder: Path, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100_000
    (folder / "large.txt").write_bytes(b"x" * 100_001)
    os.mkfifo(folder / "pipe")
    skipped = {one.path.name: one.reason for one in walk(folder) if isinstance(one, Skipped)}
    assert set(skipped) == {"large.txt", "pipe"}
    assert "MAX_UPLOAD_BYTES" in skipped["large.txt"]


# --- Where it goes -----------------------------------------------------------------------------------------


def test_files_are_queued_for_the_workspaces_owner(cast: Cast, folder: Path) -> None:
    run(folder, "--detach", "--tags", "a, b", "--external-user", "x")
    assert names() == ["a.pdf", "b.pdf", "c.pdf"]
    for document in Document.unscoped.all():
        assert (document.workspace, document.uploaded_by) == (cast.team, cast.alice)
        assert (document.tags, document.external_user_id, document.status) == (["a", "b"], "x", Status.QUEUED)
    assert ProcrastinateJob.objects.count() == 3


def test_a_workspace_is_known_by_id_and_to_a_member_by_name(cast: Cast, folder: Path) -> None:
    run(folder, "--detach", workspace=str(cast.team.pk))
    run(folder, "--detach", "--user", "CHARLIE@example.org", workspace="Personal")
    assert {d.workspace for d in Document.unscoped.all()} == {cast.team, cast.charlie.personal_workspace}


@pytest.mark.parametrize(
    ("options", "workspace", "message"),
    [
        (["--user", "nobody@example.org"], "Team", "no user"),
        (["--user", "bob@example.org"], "Team", "editor"),
        (["--user", "charlie@example.org"], "Team", "no workspace"),
        ([], "Nothing", "no workspace"),
        ([], "00000000-0000-4000-8000-000000000000", "no workspace"),
        ([], "Personal", "Several workspaces"),
        (["--external-user", " "], "Team", "external_user_id"),
        (["--tags", "x" * 101], "Team", "100 characters"),
    ],
)
def test_a_bad_place_is_said_before_anything_is_added(
    cast: Cast, folder: Path, options: list[str], workspace: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        run(folder, "--detach", *options, workspace=workspace)
    assert not Document.unscoped.exists()


def test_a_path_that_is_not_there_is_said(cast: Cast, folder: Path) -> None:
    with pytest.raises(CommandError, match=r"nothing.* does not exist"):
        run(folder / "nothing")


# --- Following and repeating -------------------------------------------------------------------------------


def test_without_a_worker_it_says_what_to_do(
    cast: Cast, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="--work") as stopped:
        run(folder)
    assert stopped.value.returncode == 2
    assert "No worker is running, so 3 documents can't be processed." in capsys.readouterr().out
    assert Document.unscoped.count() == 3


def test_running_again_skips_what_is_there(
    cast: Cast, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder, "--detach")
    process_all()
    run(folder)
    out = capsys.readouterr().out
    assert ProcrastinateJob.objects.count() == 0
    assert out.count("ready") == 3 + 1
    assert "3 ready" in out
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        assert name in out


def test_running_again_after_an_interruption_does_the_rest(cast: Cast, folder: Path) -> None:
    held = folder / "deep"
    held.rename(folder.parent / "later")
    run(folder, "--detach")
    process_all()
    (folder.parent / "later").rename(held)
    run(folder, "--detach")
    assert names() == ["a.pdf", "b.pdf", "c.pdf"]
    [waiting] = Document.unscoped.filter(status=Status.QUEUED)
    assert waiting.name == "c.pdf"


def test_queued_ones_are_followed_not_queued_twice(cast: Cast, folder: Path) -> None:
    run(folder, "--detach")
    run(folder, "--detach")
    assert ProcrastinateJob.objects.count() == Document.unscoped.count() == 3


def test_a_live_worker_is_waited_for(
    cast: Cast, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now())")
    monkeypatch.setattr(SLEEP, lambda _: process_all())
    run(folder)
    assert "3 ready" in capsys.readouterr().out


def test_a_worker_that_has_been_silent_for_long_is_none(cast: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (%s)",
            [timezone.now() - timedelta(hours=1)],
        )
    assert not command._worker_is_running()


def test_control_c_says_how_to_go_on(
    cast: Cast, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_worker_is_running", lambda: True)
    monkeypatch.setattr(SLEEP, interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(folder)
    assert "3 documents stay queued" in capsys.readouterr().out


def test_what_goes_wrong_stands_in_the_table_and_in_the_exit_code(
    cast: Cast, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty.txt").touch()
    monkeypatch.setattr(command, "_worker_is_running", lambda: True)
    monkeypatch.setattr(SLEEP, lambda _: process_all())
    with pytest.raises(CommandError, match="1 of the files") as failed:
        run(folder)
    assert failed.value.returncode == 1
    out = capsys.readouterr().out
    assert "empty: The file is empty" in out
    assert "3 ready, 1 failed" in out


def test_a_file_that_cant_be_read_does_not_stop_the_others(
    cast: Cast, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    def failing(principal: Any, upload: Any, details: Any) -> Any:
        if upload.name == "a.pdf":
            raise PermissionError(13, "Permission denied")
        return add_document(principal, upload, details)

    monkeypatch.setattr(command, "add_document", failing)
    with pytest.raises(CommandError, match="1 of the files"):
        run(folder, "--detach")
    assert "Permission denied" in capsys.readouterr().out
    assert names() == ["b.pdf", "c.pdf"]


def test_a_document_deleted_meanwhile_is_said(
    cast: Cast, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_worker_is_running", lambda: True)
    monkeypatch.setattr(SLEEP, lambda _: Document.unscoped.all().delete())
    run(folder)
    assert "3 deleted" in capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_it_can_do_the_work_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_cast()
    (folder / "empty.txt").touch()
    with pytest.raises(CommandError, match="1 of the files"):
        run(folder, "--work")
    out = capsys.readouterr().out
    assert "3 ready, 1 failed" in out
    assert Document.unscoped.filter(status=Status.READY).count() == 3
    assert not ProcrastinateJob.objects.filter(status__in=["todo", "doing"]).exists()


# --- Bounded memory ----------------------------------------------------------------------------------------


def test_only_a_window_is_followed_at_a_time(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "WINDOW", 2)
    rows = [
        Document(workspace=cast.team, name=str(n), size=0, identity=str(n), status=status)
        for n, status in enumerate(
            [Status.READY, Status.QUEUED, Status.READY, Status.EXTRACTING, Status.READY]
        )
    ]
    Document.unscoped.bulk_create(rows)
    followed = FollowedDocuments(principal_of_user(cast.alice))
    for row in rows:
        followed.add(Path(row.name), row)
    followed.begin()
    looks = [[outcome.path for outcome in followed.step()] for _ in range(4)]
    followed.close()
    assert looks == [["0"], ["2"], [], []]


def test_following_costs_no_memory_for_each_file(cast: Cast) -> None:
    document = Document(workspace=cast.team, name="x")
    followed = FollowedDocuments(principal_of_user(cast.alice))
    paths = [Path(f"folder/{number}") for number in range(20_000)]
    tracemalloc.start()
    try:
        for path in paths:
            followed.add(path, document)
        # Other files' lines grow what the whole process shares, such as its table of interned strings.
        ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, bulk.__file__)])
        assert sum(trace.size for trace in ours.traces) < 8 * len(paths), "not even a pointer for each"
    finally:
        tracemalloc.stop()
        followed.close()


def test_a_long_table_keeps_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MAX_ROWS", 3)
    summary = Summary()
    for number in range(10):
        summary.add(FileOutcome(f"{number}", Status.READY))
    summary.add(FileOutcome("zz", Status.FAILED, note="corrupted: Broken."))
    assert [row.path for row in summary.rows()] == ["0", "1", "zz"]
    assert (summary.counts[Status.READY], summary.failures) == (10, 1)
    assert command._table(summary).caption == "and 8 more"


def test_several_workspaces_of_one_name_are_listed(cast: Cast, folder: Path) -> None:
    other = Workspace.create_for(cast.bob, name="Team")
    with pytest.raises(CommandError, match=str(other.pk)):
        run(folder)
