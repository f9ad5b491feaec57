"""Which engine is searched, and the change to another one.

  SEARCH_ENGINE names another ─▶ both are written ─▶ a job fills the new one ─▶ it is searched
                                                                            └▶ the old one is cleared

The old engine serves until every document is in the new one. The job works in slices and may be killed at any
time. A process asks the database which engine is searched, so all change at once.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued

from core.jobs import defer_job
from core.row_access import as_system
from kb.index.engines.base import IndexEngine
from kb.index.engines.registry import engine
from kb.index.errors import EngineUnavailable
from kb.models import Chunk, Document, SearchEngine, Segment

logger = logging.getLogger(__name__)

DEFAULT = "segments"
TASK = "switch_engine"
SLICE_SECS = 10.0
AT_ONCE = 50
CLEAR_AFTER = timedelta(minutes=2)
"""Searches that began with the old engine have ended by then."""


@dataclass(frozen=True, slots=True)
class EngineState:
    """The engine that is searched, and the one of the settings with the progress of its filling."""

    active: str
    wanted: str
    done: int
    """Documents that have been written to the wanted engine."""
    total: int


def active_engine() -> IndexEngine:
    """Return the engine that is searched, by one cheap query."""
    row = SearchEngine.objects.filter(is_active=True).first() or _first_active_engine()
    return engine(row.name)


def engines_to_write() -> list[IndexEngine]:
    """Return the engine that is searched, one that is being filled, and one that is not cleared yet."""
    names = list(SearchEngine.objects.order_by("pk").values_list("name", flat=True))
    return [engine(name) for name in names or [_first_active_engine().name]]


def start() -> str:
    """Begin the change to another engine if the settings name one; return a line to report.

    Raises `ImproperlyConfigured` if the engine of the settings can't be used here.
    """
    engine(settings.SEARCH_ENGINE)
    active = active_engine().name
    if active == settings.SEARCH_ENGINE:
        return "" if active == DEFAULT else f"Searching with the engine “{active}”."
    begin()
    return f"Search goes on with the engine “{active}” while “{settings.SEARCH_ENGINE}” is filled."


def begin() -> None:
    """Write to the wanted engine from now on, and queue its filling."""
    SearchEngine.objects.get_or_create(name=settings.SEARCH_ENGINE)
    _defer()


def state() -> EngineState:
    """Return the engines and the progress of a change."""
    active, wanted = active_engine().name, settings.SEARCH_ENGINE
    total = Document.unscoped.filter(chunk_count__gt=0)
    if active == wanted:
        return EngineState(active, wanted, total.count(), total.count())
    row = SearchEngine.objects.filter(name=wanted).first()
    done = total.filter(pk__lte=row.filled_to) if row and row.filled_to else total.none()
    return EngineState(active, wanted, done.count(), total.count())


@app.periodic(cron="* * * * *")
@app.task(name=TASK, lock=TASK, queueing_lock=TASK)
def switch_engine(timestamp: int) -> None:
    """Work for a slice of time, then queue the next one; do nothing if all is as the settings say."""
    clear_others()
    if active_engine().name == settings.SEARCH_ENGINE:
        return
    begin_row, _ = SearchEngine.objects.get_or_create(name=settings.SEARCH_ENGINE)
    try:
        if fill(begin_row, until=monotonic() + SLICE_SECS):
            activate(begin_row)
        else:
            _defer()
    except EngineUnavailable as error:
        # The next minute's job goes on.
        logger.warning("The index engine “%s” can't be filled: %s", begin_row.name, error)


def fill(row: SearchEngine, until: float) -> bool:
    """Write documents to an engine until a moment of the monotonic clock; return whether it has all.

    Raises `EngineUnavailable`.
    """
    while monotonic() < until:
        ids = _next_documents(row)
        if not ids:
            return not _repair(engine(row.name))
        _write(engine(row.name), ids)
        row.filled_to, row.changed_at = ids[-1], timezone.now()
        row.save(update_fields=["filled_to", "changed_at"])
    return False


@transaction.atomic
def activate(row: SearchEngine) -> None:
    """Let searches use an engine from the next question on."""
    list(SearchEngine.objects.select_for_update().order_by("pk"))
    SearchEngine.objects.filter(is_active=True).update(
        is_active=False, filled_to=None, changed_at=timezone.now()
    )
    SearchEngine.objects.filter(pk=row.pk).update(is_active=True, filled_to=None, changed_at=timezone.now())
    logger.info("All documents are in the index engine “%s”: search uses it from now on.", row.name)


def clear_others() -> None:
    """Clear engines that are neither searched nor filled, some time after the change."""
    wanted = active_engine().name, settings.SEARCH_ENGINE
    for row in SearchEngine.objects.exclude(name__in=wanted).filter(
        changed_at__lt=timezone.now() - CLEAR_AFTER
    ):
        engine(row.name).clear()
        row.delete()
        logger.info("The index engine “%s” was cleared.", row.name)


def differing(used: IndexEngine, ids: Sequence[UUID]) -> Mapping[UUID, tuple[int, int]]:
    """Return for documents whose live chunks an engine has not: how many it has, and how many there are."""
    found = used.indexed_documents(set(ids))
    live = Chunk.unscoped.filter(document_id__in=ids, replaced_by=None).order_by().values("document_id")
    wanted = dict(live.annotate(chunks=Count("pk")).values_list("document_id", "chunks"))
    pairs = {id: (found.get(id, 0), wanted.get(id, 0)) for id in ids}
    return {id: (has, should) for id, (has, should) in pairs.items() if has != should}


def _next_documents(row: SearchEngine) -> list[UUID]:
    documents = Document.unscoped.order_by("pk")
    if row.filled_to:
        documents = documents.filter(pk__gt=row.filled_to)
    return list(documents.values_list("pk", flat=True)[:AT_ONCE])


def _write(used: IndexEngine, ids: Sequence[UUID]) -> None:
    for id in ids:
        used.write(id)
        if not used.settle(id):
            raise EngineUnavailable


def _repair(used: IndexEngine) -> bool:
    """Write the documents that an engine has not as they are; return whether there were any.

    A document that was being stored while the filling began may have been missed.
    """
    found = False
    after: UUID | None = None
    while ids := _documents_after(after):
        wrong = list(differing(used, ids))
        _write(used, wrong)
        found, after = found or bool(wrong), ids[-1]
    return found


def _documents_after(after: UUID | None) -> list[UUID]:
    documents = Document.unscoped.order_by("pk")
    if after:
        documents = documents.filter(pk__gt=after)
    return list(documents.values_list("pk", flat=True)[:1000])


def _defer() -> None:
    try:
        with transaction.atomic():
            defer_job(TASK, {"timestamp": 0}, lock=TASK, queueing_lock=TASK)
    except AlreadyEnqueued:
        pass


@as_system("an engine is filled if it has anybody's chunks")
def _first_active_engine() -> SearchEngine:
    """Choose an engine if none is searched yet: the wanted one, unless documents are in segments."""
    name = DEFAULT if Segment.unscoped.exists() else settings.SEARCH_ENGINE
    with transaction.atomic():
        # Of two processes that start together, one waits here and then finds the choice made.
        row, _ = SearchEngine.objects.get_or_create(name=name)
        list(SearchEngine.objects.select_for_update().order_by("pk"))
        chosen = SearchEngine.objects.filter(is_active=True).first()
        if chosen is None:
            SearchEngine.objects.filter(pk=row.pk).update(is_active=True)
            chosen = row
    return chosen
