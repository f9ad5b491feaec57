"""Many files at once: which files of a folder are added, and the outcome of each."""

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

# Documents queried at once, and rows kept for the final table.
WINDOW = 500
MAX_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not added, and the reason."""

    path: Path
    reason: str


def walk(start: Path) -> Iterator[Path | Skipped]:
    """Yield the files at and below `start`, sorted by name within each folder; a file given as `start` counts
    even if hidden."""
    if start.is_dir():
        yield from _walk_folder(start, start.resolve())
    else:
        yield _check_file(start)


def _walk_folder(folder: Path, root: Path) -> Iterator[Path | Skipped]:
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
            yield _check_file(path)
        elif not path.is_symlink():  # a link's target inside the folder is found at its own place
            yield from _walk_folder(path, root)


def _check_file(path: Path) -> Path | Skipped:
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
    """The outcome of one file; `status` is a document's, or “deleted” or “unreadable”."""

    path: str
    status: str
    pages: int | None = None
    chunks: int | None = None
    note: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether nobody can find the file now."""
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
    """Counts all outcomes; keeps at most `MAX_ROWS` of them as rows, those with a note first."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    _plain: list[FileOutcome] = field(default_factory=list)
    _notable: list[FileOutcome] = field(default_factory=list)

    def add(self, outcome: FileOutcome) -> None:
        """Count an outcome."""
        self.counts[outcome.status] += 1
        self.failures += outcome.is_failure
        rows = self._notable if outcome.note or outcome.status != Status.READY else self._plain
        if len(rows) < MAX_ROWS:
            rows.append(outcome)

    def rows(self) -> list[FileOutcome]:
        """Return what the table shows, by path."""
        return sorted([*self._notable, *self._plain][:MAX_ROWS], key=lambda outcome: outcome.path)


class FollowedDocuments:
    """The documents of one run, in the order of their jobs; only a window of them is in memory."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._spool = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  closed by `close`
        self._window: list[tuple[str, UUID]] = []
        self.active: list[Document] = []
        self.added = 0

    def add(self, path: Path, document: Document) -> None:
        """Add a document; only before the first `step`."""
        self._spool.write(json.dumps([str(path), str(document.pk)]) + "\n")
        self.added += 1

    def begin(self) -> None:
        """Go to the first document."""
        self._spool.seek(0)

    def step(self) -> list[FileOutcome]:
        """Query the window once; return the outcomes of documents that have finished since the last call."""
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
        """Delete the temporary file."""
        self._spool.close()

    def _documents(self, ids: list[UUID]) -> dict[UUID, Document]:
        rows = Document.objects.restricted_to(self._principal).filter(pk__in=ids)
        return {document.pk: document for document in rows}
