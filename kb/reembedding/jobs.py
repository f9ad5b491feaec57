"""The job that re-embeds in the background, in slices, so that new documents need not wait for it."""

from __future__ import annotations

import logging
import time

from django.db import InterfaceError, OperationalError
from procrastinate import JobContext, RetryStrategy
from procrastinate.contrib.django import app
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason

from core.endpoint import EndpointUnavailable
from kb.embedding import queue
from kb.embedding.spaces import active_space, wanted_space
from kb.index.errors import EngineUnavailable
from kb.index.writing import complete
from kb.models import EmbeddingSpace
from kb.reembedding.filling import activate, fill, fill_progress, missing

logger = logging.getLogger(__name__)

SLICE_SECS = 10.0
# A document that was being stored while the spaces changed may lack vectors in the new one.
SWEEP_AFTER_SECS = 60
RETRIES = RetryStrategy(
    max_attempts=20,
    exponential_wait=2,
    retry_exceptions={OperationalError, InterfaceError, EndpointUnavailable, EngineUnavailable},
)


@app.task(name=queue.TASK, pass_context=True, retry=RETRIES)
def reembed(context: JobContext, space_id: int) -> None:
    """Work for a slice of time, then queue the next; activate the space when it is complete."""
    space = EmbeddingSpace.objects.filter(pk=space_id).first()
    if space is None or space != wanted_space():
        logger.info("Embedding space %s is no longer wanted: its re-embedding ends.", space or space_id)
        return
    if not work(context, space):
        queue.enqueue(space)
    elif space != active_space():
        activate(space)
        queue.enqueue(space, in_secs=SWEEP_AFTER_SECS)
        logger.info("All documents are embedded for %s: search uses it from now on.", space)
    else:
        # Segments merged while the spaces changed may lack codes of the new one.
        complete(space)


def work(context: JobContext, space: EmbeddingSpace) -> bool:
    """Fill a space until nothing is missing (return True), or until the slice is over or the worker stops.

    Raise `JobAborted` where the operator ends the job.
    """
    deadline = time.monotonic() + SLICE_SECS
    for _ in fill(space):
        if context.abort_reason() == AbortReason.USER_REQUEST:
            raise JobAborted
        if context.should_abort() or time.monotonic() > deadline:
            progress = fill_progress(space)
            logger.info("Embedded %d of %d chunks again for %s.", progress.done, progress.total, space)
            return progress.is_complete
    return not missing(space).exists()
