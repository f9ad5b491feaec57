"""Many files at once: which ones of a folder are taken, and what becomes of each."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from uuid import UUID

from django.conf import settings

from accounts.principal import Principal
from kb.models import Document, Stage, Status

# Documents that are looked at at once, and rows that are kept for the table in the end.
WINDOW = 500
MAX_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not taken, and why."""

    path: Path
    reason: str


def walk(start: Path) -> Iterator[Path | Skipped]:
    """Yield the files at and below `start` by name, as they are found; a named file counts even if hidden."""
    if start.is_dir():
        yield from _below(start, start.resolve())
    else:
        yield _checked(start)


def _below(folder: Path, root: Path) -> Iterator[Path | Skipped]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  a path for each name would take ten times the memory
    except OSError as error:
        yield Skipped(folder, error.strerror or "can't be read")
        return
    for name in names:
        path = folder / name
        if name.startswith("."):
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            yield Skipped(path, "a link that leaves the folder")
        elif not path.is_dir():
            yield _checked(path)
        elif not path.is_symlink():  # what a link inside leads to is met where it stands
            yield from _below(path, root)


def _checked(path: Path) -> Path | Skipped:
    try:
        size = path.stat().st_size
    except OSError as error:
        return Skipped(path, error.strerror or "can't be read")
    if not path.is_file():
        return Skipped(path, "no regular file")
    if size > settings.MAX_UPLOAD_BYTES:
        return Skipped(path, f"larger than {settings.MAX_UPLOAD_BYTES / 2**20:.0f} MiB (MAX_UPLOAD_BYTES)")
    return path


# --- What becomes of them ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """How it ended for one file; `status` is a document's, or “deleted” or “unreadable”."""

    path: str
    status: str
    pages: int | None = None
    chunks: int | None = None
    note: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the file can't be found by anybody now."""
        return self.status in (Status.FAILED, "unreadable")


def outcome_of(path: str, document: Document | None) -> FileOutcome:
    """Return the outcome of a finished document; None if it is gone."""
    if document is None:
        return FileOutcome(path, "deleted")
    warnings = "; ".join(str(warning.get("message", warning.get("code"))) for warning in document.warnings)
    note = f"{document.error_code}: {document.error_message}" if document.error_code else warnings
    return FileOutcome(path, document.status, document.page_count, document.chunk_count, note)


@dataclass(slots=True)
class Summary:
    """All outcomes counted; as rows no more than `MAX_ROWS`, the ones with something to say first."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    _quiet: list[FileOutcome] = field(default_factory=list)
    _telling: list[FileOutcome] = field(default_factory=list)

    def add(self, outcome: FileOutcome) -> None:
        """Take one more."""
        self.counts[outcome.status] += 1
        self.failures += outcome.is_failure
        rows = self._telling if outcome.note or outcome.status != Status.READY else self._quiet
        if len(rows) < MAX_ROWS:
            rows.append(outcome)

    def rows(self) -> list[FileOutcome]:
        """Return what the table shows, by path."""
        return sorted([*self._telling, *self._quiet][:MAX_ROWS], key=lambda outcome: outcome.path)


class Followed:
    """The documents of one run, in the order of their jobs; only a window of them is in memory."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._spool = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  closed by `close`
        self._window: list[tuple[str, UUID]] = []
        self.active: list[Document] = []
        self.added = 0

    def add(self, path: Path, document: Document) -> None:
        """Follow one more; before the first `step` only."""
        self._spool.write(json.dumps([str(path), str(document.pk)]) + "\n")
        self.added += 1

    def begin(self) -> None:
        """Go to the first of them."""
        self._spool.seek(0)

    def step(self) -> list[FileOutcome]:
        """Look once; return those that have finished since the last time."""
        for line in islice(self._spool, WINDOW - len(self._window)):
            path, id = json.loads(line)
            self._window.append((path, UUID(id)))
        documents = self._documents([id for _, id in self._window])
        finished, waiting = [], []
        for path, id in self._window:
            document = documents.get(id)
            if document is None or document.is_finished:
                finished.append(outcome_of(path, document))
            else:
                waiting.append((path, id))
        self._window = waiting
        self.active = [d for d in documents.values() if not d.is_finished and d.stage != Stage.QUEUED]
        return finished

    def close(self) -> None:
        """Give the temporary file back."""
        self._spool.close()

    def _documents(self, ids: list[UUID]) -> dict[UUID, Document]:
        rows = Document.objects.restricted_to(self._principal).filter(pk__in=ids)
        return {document.pk: document for document in rows}
