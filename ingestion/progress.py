"""Progress of a document: written to its row, published to subscribers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from core.pubsub import document_topic, publish
from kb.documents import document_name
from kb.models import FINISHED, Document, Stage, Status

Shares = dict[Stage, tuple[float, float]]
# The share of progress at which each stage begins and ends, by the usual duration of stages.
SHARES: Shares = {Stage.EXTRACTING: (0.0, 0.15), Stage.CHUNKING: (0.15, 0.2), Stage.EMBEDDING: (0.2, 1.0)}
WITH_RECOGNITION: Shares = {
    Stage.EXTRACTING: (0.0, 0.85),
    Stage.CHUNKING: (0.85, 0.86),
    Stage.EMBEDDING: (0.86, 1.0),
}
AT_MOST_EVERY_SECS = 0.5
LOOK_EVERY_SECS = 1.0
# A new processing sets `queued` even while an earlier run is at work; that run then stops.
UNDER_WAY = (Status.EXTRACTING, Status.INDEXING)


class Superseded(Exception):
    """The document was deleted, cancelled or queued again meanwhile: this run has nothing left to do."""


class Interrupted(Exception):
    """The worker is stopping: another worker must run the job again."""


class ProgressWriter:
    """Writes the progress of one document's ingestion.

    Every method that writes progress may end the run: it raises `Superseded` or `Interrupted`.
    """

    def __init__(self, document_id: UUID, interrupted: Callable[[], bool]) -> None:
        self.document_id = document_id
        self._interrupted = interrupted
        self._shares = SHARES
        self._last = self._looked = 0.0
        self._begun = time.monotonic()

    def expect_recognition(self) -> None:
        """Reserve most of the progress for recognition."""
        self._shares = WITH_RECOGNITION
        self._begun = time.monotonic()

    def begin_or_stop(self, **values: Any) -> None:
        """Start this run; raise `Superseded` if the document was deleted, cancelled or has finished."""
        unfinished = Document.unscoped.filter(pk=self.document_id).exclude(status__in=FINISHED)
        with transaction.atomic():
            if not unfinished.update(status=Status.EXTRACTING):
                raise Superseded
            self.enter_stage_or_stop(Stage.EXTRACTING, **values)

    def raise_if_stopped(self) -> None:
        """Raise `Superseded` or `Interrupted` if this run must end; checks at most once a second."""
        if time.monotonic() - self._looked < LOOK_EVERY_SECS:
            return
        self._looked = time.monotonic()
        if self._interrupted():
            raise Interrupted
        if not _live(self.document_id).exists():
            raise Superseded

    def write_or_stop(self, **values: Any) -> None:
        """Write fields of the document; raise `Superseded` or `Interrupted` if this run must end.

        Inside a transaction the row stays locked, so that a deletion waits until the transaction ends.
        """
        if self._interrupted():
            raise Interrupted
        with transaction.atomic():
            if not _live(self.document_id).update(**values, updated_at=timezone.now()):
                raise Superseded
            publish_document(self.document_id)
        self._last = time.monotonic()

    def rename(self, old: str, new: str) -> None:
        """Give the document a new name, unless it is no longer named `old`."""
        Document.unscoped.filter(pk=self.document_id, name=old).update(name=document_name(new, old))

    def enter_stage_or_stop(self, stage: Stage, **values: Any) -> None:
        """Write that a stage begins."""
        self._begun = time.monotonic()
        self.write_or_stop(stage=stage, progress=self._shares[stage][0], activity=None, **values)

    def progress_or_stop(self, stage: Stage, done: int, total: int, unit: str, before: int = 0) -> None:
        """Write how much of a stage is done, counted in `unit`s; `before` of them earlier."""
        start, end = self._shares[stage]
        seconds_left = (time.monotonic() - self._begun) * (total - done) / max(done - before, 1)
        self.write_or_stop(
            progress=start + (end - start) * done / max(total, 1),
            activity={"done": done, "total": total, "unit": unit, "seconds_left": round(seconds_left, 1)},
        )

    def throttled_progress_or_stop(self, stage: Stage, done: int, total: int, unit: str) -> None:
        """Write how much of a stage is done, at most twice a second."""
        if time.monotonic() - self._last >= AT_MOST_EVERY_SECS:
            self.progress_or_stop(stage, done, total, unit)


def publish_document(document_id: UUID) -> None:
    """Publish a change of a document to subscribers of its present workspace."""
    workspace_id = Document.unscoped.values_list("workspace_id", flat=True).get(pk=document_id)
    publish(document_topic(workspace_id), str(document_id))


def _live(document_id: UUID) -> Any:
    return Document.unscoped.filter(pk=document_id, status__in=UNDER_WAY)
