"""How far a document is: written to its row, announced to whoever watches."""

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
# Where each stage begins and ends on the way from 0 to 1, by the time stages usually take.
SHARES: Shares = {Stage.EXTRACTING: (0.0, 0.15), Stage.CHUNKING: (0.15, 0.2), Stage.EMBEDDING: (0.2, 1.0)}
WITH_RECOGNITION: Shares = {
    Stage.EXTRACTING: (0.0, 0.85),
    Stage.CHUNKING: (0.85, 0.86),
    Stage.EMBEDDING: (0.86, 1.0),
}
AT_MOST_EVERY_SECS = 0.5
LOOK_EVERY_SECS = 1.0
# Whoever asks for another processing makes it `queued`, under the hands of the run that is still at it.
UNDER_WAY = (Status.EXTRACTING, Status.INDEXING)


class Superseded(Exception):
    """The document was deleted, cancelled or queued once more meanwhile: nothing is left to do."""


class Interrupted(Exception):
    """The worker is stopping: the job must be taken up again later."""


class ProgressWriter:
    """The progress of one document's ingestion."""

    def __init__(self, document_id: UUID, interrupted: Callable[[], bool]) -> None:
        self.document_id = document_id
        self._interrupted = interrupted
        self._shares = SHARES
        self._last = self._looked = 0.0
        self._begun = time.monotonic()

    def expect_recognition(self) -> None:
        """Say that recognition will take most of the time."""
        self._shares = WITH_RECOGNITION
        self._begun = time.monotonic()

    def begin(self, **values: Any) -> None:
        """Take the document up; raise `Superseded` if it was deleted, or cancelled, or is done already."""
        unfinished = Document.unscoped.filter(pk=self.document_id).exclude(status__in=FINISHED)
        with transaction.atomic():
            if not unfinished.update(status=Status.EXTRACTING):
                raise Superseded
            self.stage(Stage.EXTRACTING, **values)

    def check(self) -> None:
        """Raise `Superseded` or `Interrupted` if there is no point in going on; look once a second."""
        if time.monotonic() - self._looked < LOOK_EVERY_SECS:
            return
        self._looked = time.monotonic()
        if self._interrupted():
            raise Interrupted
        if not _live(self.document_id).exists():
            raise Superseded

    def update(self, **values: Any) -> None:
        """Write fields of the document; raise `Superseded` or `Interrupted` if there is no point in going on.

        Inside a transaction the row stays locked, so that a deletion waits for what is written beside it.
        """
        if self._interrupted():
            raise Interrupted
        with transaction.atomic():
            if not _live(self.document_id).update(**values, updated_at=timezone.now()):
                raise Superseded
            publish_document(self.document_id)
        self._last = time.monotonic()

    def rename(self, old: str, new: str) -> None:
        """Give the document another name, unless it has one by now that is not the `old` one."""
        Document.unscoped.filter(pk=self.document_id, name=old).update(name=document_name(new, old))

    def stage(self, stage: Stage, **values: Any) -> None:
        """Say that a stage begins."""
        self._begun = time.monotonic()
        self.update(stage=stage, progress=self._shares[stage][0], activity=None, **values)

    def progress(self, stage: Stage, done: int, total: int, unit: str, before: int = 0) -> None:
        """Say how much of a stage is done, counted in `unit`s; so many were done `before` this run."""
        start, end = self._shares[stage]
        seconds_left = (time.monotonic() - self._begun) * (total - done) / max(done - before, 1)
        self.update(
            progress=start + (end - start) * done / max(total, 1),
            activity={"done": done, "total": total, "unit": unit, "seconds_left": round(seconds_left, 1)},
        )

    def progress_now_and_then(self, stage: Stage, done: int, total: int, unit: str) -> None:
        """Say how much of a stage is done, unless something was said just now."""
        if time.monotonic() - self._last >= AT_MOST_EVERY_SECS:
            self.progress(stage, done, total, unit)


def publish_document(document_id: UUID) -> None:
    """Announce a change of a document in the workspace it is in now."""
    workspace_id = Document.unscoped.values_list("workspace_id", flat=True).get(pk=document_id)
    publish(document_topic(workspace_id), str(document_id))


def _live(document_id: UUID) -> Any:
    return Document.unscoped.filter(pk=document_id, status__in=UNDER_WAY)
