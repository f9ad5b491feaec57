"""`manage.py ingest`: adds files and folders from the command line, and shows their progress."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from anyio.from_thread import start_blocking_portal
from django.conf import settings
from django.core.files.base import File
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateWorker
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text

from accounts.access.identity import principal_of_user
from accounts.models import Membership, User, Workspace
from accounts.people.named import user_named, workspace_named
from accounts.principal import Principal, checked_external_user_id
from accounts.roles import Role
from core.errors import LocusError
from ingestion.bulk import FileOutcome, FollowedDocuments, Skipped, Summary, outcome_of, walk
from ingestion.jobs import run_worker
from kb.documents import Details, add_document
from kb.embedding import embedding_model
from kb.models import Document, Status

LOOK_EVERY_SECS = 0.5
BARS = 8
COLOURS = {Status.READY: "green", Status.PARTIAL: "yellow", Status.FAILED: "red", "unreadable": "red"}
UNFINISHED = 2


class Command(BaseCommand):
    """Adds files, follows their ingestion, and prints a table. Run it again to continue after an
    interruption."""

    help = "Ingest files and folders. Files already added are skipped, so an interrupted run can be repeated."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders")
        parser.add_argument(
            "--workspace", required=True, metavar="ID|NAME", help="the workspace to add the files to"
        )
        parser.add_argument(
            "--user", metavar="EMAIL", help="the user who adds the files; default: the workspace's owner"
        )
        parser.add_argument(
            "--external-user", metavar="ID", help="the external user whom the documents belong to"
        )
        parser.add_argument("--tags", default="", metavar="A,B", help="tags for all documents")
        parser.add_argument(
            "--detach",
            action="store_true",
            help="return when all documents are queued, without waiting for them",
        )
        parser.add_argument("--work", action="store_true", help="process the documents in this process")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add the files, follow them, print the table."""
        console = Console(soft_wrap=True)
        for path in options["paths"]:
            if not path.exists():
                raise CommandError(f"{path} does not exist.")
        principal, details = _place(options)
        summary = Summary()
        with closing(FollowedDocuments(principal)) as followed:
            with console.status("Adding files"):
                _add_all(console, options["paths"], principal, details, followed, summary)
            if options["detach"]:
                console.print(f"{followed.added} documents are queued.")
            else:
                _follow(console, followed, summary, works=options["work"])
        if summary.counts:
            console.print(_table(summary))
            console.print(", ".join(f"{number} {status}" for status, number in summary.counts.most_common()))
        if summary.failures:
            raise CommandError(f"{summary.failures} of the files could not be ingested.")


# --- User and workspace ------------------------------------------------------------------------------------


def _place(options: dict[str, Any]) -> tuple[Principal, Details]:
    external, tags = options["external_user"], [tag.strip() for tag in options["tags"].split(",")]
    try:
        user = user_named(options["user"]) if options["user"] else None
        workspace = workspace_named(user, options["workspace"])
        principal = principal_of_user(
            user or _owner(workspace), None if external is None else checked_external_user_id(external)
        )
        principal.require_workspace(workspace.pk, Role.EDITOR)
    except LocusError as error:
        raise CommandError(error.message) from error
    if any(len(tag) > 100 for tag in tags):
        raise CommandError("A tag has at most 100 characters.")
    return principal, Details(workspace.pk, tags=[tag for tag in tags if tag])


def _owner(workspace: Workspace) -> User:
    owner = Membership.objects.filter(workspace=workspace, role=Role.OWNER).order_by("created_at").first()
    if owner is None:
        raise CommandError(f"{workspace} has no owner. Name a member with --user.")
    return owner.user


# --- Adding ------------------------------------------------------------------------------------------------


def _add_all(
    console: Console,
    paths: list[Path],
    principal: Principal,
    details: Details,
    followed: FollowedDocuments,
    summary: Summary,
) -> None:
    for found in (found for path in paths for found in walk(path)):
        if isinstance(found, Skipped):
            console.print(f"Skipped {found.path}: {found.reason}", style="dim", markup=False, highlight=False)
            continue
        try:
            document, duplicate = _add(principal, found, details)
        except OSError as error:
            summary.add(FileOutcome(str(found), "unreadable", note=error.strerror or str(error)))
            continue
        if duplicate and document.is_finished:
            summary.add(outcome_of(str(found), document))
        else:
            followed.add(found, document)


def _add(principal: Principal, path: Path, details: Details) -> tuple[Document, bool]:
    # A name that is not UTF-8 can't be stored, but its file can.
    name = path.name.encode(errors="replace").decode()
    with path.open("rb") as file:
        return add_document(principal, File(file, name=name), details)


# --- Following ---------------------------------------------------------------------------------------------


def _follow(console: Console, followed: FollowedDocuments, summary: Summary, *, works: bool) -> None:
    followed.begin()
    done = summary.counts.total()
    bars = _Bars(console, total=followed.added + done, done=done)
    _report(followed, summary, bars)
    if bars.is_done:
        return
    if not works and not _worker_is_running():
        works = _offers_to_work(console, bars.left)
    try:
        with bars.progress, _worker_here() if works else _worker_elsewhere() as check:
            while not bars.is_done:
                check()
                time.sleep(LOOK_EVERY_SECS)
                _report(followed, summary, bars)
    except KeyboardInterrupt:
        console.print(f"{bars.left} documents stay queued. Run the same command again to continue.")
        raise


def _report(followed: FollowedDocuments, summary: Summary, bars: _Bars) -> None:
    outcomes = followed.step()
    for outcome in outcomes:
        summary.add(outcome)
    bars.show(len(outcomes), followed.active)


class _Bars:
    """One bar for all documents, and one for each of those that are being processed."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
        self.progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self._all = self.progress.add_task("Documents", total=total, completed=done)
        self._tasks: dict[UUID, TaskID] = {}
        self.left = total - done

    @property
    def is_done(self) -> bool:
        """Whether all documents have finished."""
        return self.left <= 0

    def show(self, finished: int, active: list[Document]) -> None:
        """Update the bars."""
        self.left -= finished
        self.progress.advance(self._all, finished)
        shown = {document.pk: document for document in active[:BARS]}
        for id in self._tasks.keys() - shown.keys():
            self.progress.remove_task(self._tasks.pop(id))
        for id, document in shown.items():
            if id not in self._tasks:
                self._tasks[id] = self.progress.add_task("", total=1.0)
            label = f"  {document.name[:40]}: {document.stage}"
            self.progress.update(self._tasks[id], completed=document.progress, description=label)


# --- Who does the work -------------------------------------------------------------------------------------


def _worker_is_running() -> bool:
    since = timezone.now() - timedelta(seconds=settings.WORKER_STALLED_SECS)
    return bool(ProcrastinateWorker.objects.filter(last_heartbeat__gt=since).exists())


def _offers_to_work(console: Console, left: int) -> bool:
    """Ask whether to process the documents here, since no worker runs; raise `CommandError` if not."""
    console.print(f"No worker is running, so {left} documents can't be processed.")
    if sys.stdin.isatty() and console.is_terminal and Confirm.ask("Process them here?", console=console):
        return True
    raise CommandError(
        "Start Locus (bin/serve) or a worker (manage.py worker), or run this again with --work.",
        returncode=UNFINISHED,
    )


@contextmanager
def _worker_elsewhere() -> Iterator[Callable[[], None]]:
    yield lambda: None


@contextmanager
def _worker_here() -> Iterator[Callable[[], None]]:
    """Run a worker in a thread; the yielded function raises if the worker has stopped."""
    embedding_model()  # a wrong setting is reported now
    # The worker warns that only main threads get signals (here they stop it), and logs what the table shows.
    with (
        _quieter("procrastinate.signals", logging.ERROR),
        _quieter("ingestion", logging.WARNING),
        start_blocking_portal() as portal,
    ):
        worker = portal.start_task_soon(run_worker)

        def check() -> None:
            if worker.done():
                worker.result()
                raise CommandError("The worker has stopped.", returncode=UNFINISHED)

        try:
            yield check
        finally:
            worker.cancel()


@contextmanager
def _quieter(logger: str, level: int) -> Iterator[None]:
    before = logging.getLogger(logger).level
    logging.getLogger(logger).setLevel(level)
    try:
        yield
    finally:
        logging.getLogger(logger).setLevel(before)


# --- The table ---------------------------------------------------------------------------------------------


def _table(summary: Summary) -> Table:
    table = Table("File", "Status", "Pages", "Chunks", "Warnings, error")
    for row in summary.rows():
        status = Text(row.status, style=COLOURS.get(row.status, ""))
        numbers = ("" if number is None else str(number) for number in (row.pages, row.chunks))
        table.add_row(Text(row.path, overflow="fold"), status, *numbers, Text(row.note))
    hidden = summary.counts.total() - table.row_count
    table.caption = f"and {hidden} more" if hidden else None
    return table
