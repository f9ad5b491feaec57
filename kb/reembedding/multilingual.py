"""The multilingual space: vectors for questions and documents that are not in English.

An installation whose model knows English alone has none until something is not in English. From then on all
chunks get a second vector, by `MULTILINGUAL_MODEL`, after all other jobs and in slices: a document is ready
before. Searches use the space where every chunk that they may find has its vector.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import transaction
from procrastinate import JobContext
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued

from kb.embedding import queue
from kb.embedding.spaces import multilingual_space, needs_multilingual_space, new_multilingual_space
from kb.index.writing import complete
from kb.reembedding.filling import fill, missing
from kb.reembedding.jobs import RETRIES, work

logger = logging.getLogger(__name__)

TASK = "fill_multilingual_space"


def begin(in_secs: int = 0) -> None:
    """Queue the filling, unless it is waiting already or not wanted."""
    if not needs_multilingual_space():
        return
    schedule = {"seconds": in_secs} if in_secs else None
    task = app.configure_task(
        TASK, lock=TASK, queueing_lock=TASK, priority=queue.PRIORITY, schedule_in=schedule
    )
    try:
        with transaction.atomic():
            task.defer()
    except AlreadyEnqueued:
        pass


def keep_up(language: str | None) -> None:
    """Queue the filling after a document in some language (ISO 639-1) was added, if it needs the space."""
    if language not in (None, "", "en") or multilingual_space() is not None:
        begin()


@app.task(name=TASK, pass_context=True, retry=RETRIES)
def fill_multilingual_space(context: JobContext) -> None:
    """Work for a slice of time, then queue the next."""
    space = new_multilingual_space()
    if space is None:
        logger.info("No multilingual space is wanted any more: its filling ends.")
    elif work(context, space):
        complete(space)
    else:
        begin()


@app.periodic(cron="11 * * * *")
@app.task(name="keep_multilingual_space_filled", queueing_lock="keep_multilingual_space_filled")
def keep_filled(timestamp: int) -> None:
    """Queue the filling for what came by another way, such as an imported workspace."""
    space = multilingual_space()
    if space is not None and missing(space).exists():
        begin()


def count_missing() -> int:
    """Return how many chunks `fill_now` has to embed."""
    space = new_multilingual_space()
    return missing(space).count() if space else 0


def fill_now() -> Iterator[int]:
    """Fill the space in this process, if one is wanted; yield the number of new vectors after each batch."""
    space = new_multilingual_space()
    if space is not None:
        yield from fill(space)
        complete(space)
