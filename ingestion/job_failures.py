"""Why jobs failed, for the page of failed work: the queue's own tables keep only that they did.

A worker's middleware remembers the error of a job that runs; once the job counts as failed, the reason is
stored. Retries that succeed leave nothing behind.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import InterfaceError, OperationalError
from procrastinate import JobContext
from procrastinate.exceptions import JobAborted
from procrastinate.worker import Worker

from core.errors import CodedError
from kb.models import JobFailure

MAX_CHARS = 500
# Their messages are our own, or name servers and files. Those of other errors may quote a document.
MESSAGE_IS_SAFE = (CodedError, OperationalError, InterfaceError, OSError)

_reasons: dict[int, str] = {}
"""By the ids of jobs of this worker that have just met an error."""


async def note_failures(call_next: Callable[[], Awaitable[Any]], context: JobContext, worker: Worker) -> Any:
    """Run a job, and remember the error that it ends with: a worker's middleware."""
    try:
        return await call_next()
    except JobAborted:
        raise
    except Exception as error:
        if context.job.id is not None:
            _reasons[context.job.id] = reason_of(error)
        raise


async def store_reason(job_id: int, has_failed: bool) -> None:
    """Store why a job has failed; forget the error of one that will be tried again or has ended well."""
    reason = _reasons.pop(job_id, None)
    if reason is not None and has_failed:
        await database_sync_to_async(_store)(job_id, reason)


def reason_of(error: BaseException) -> str:
    """Return the kind of an error and where in our code it arose, with its message where that is safe."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(settings.BASE_DIR)]
    ours = [frame for frame in own if "site-packages" not in frame.filename] or frames
    place = f" in {_relative(ours[-1].filename)}, line {ours[-1].lineno}" if ours else ""
    lines = str(error).splitlines() if isinstance(error, MESSAGE_IS_SAFE) else []
    message = f": {lines[0]}" if lines else ""
    return f"{type(error).__name__}{place}{message}"[:MAX_CHARS]


def _relative(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(settings.BASE_DIR)) if path.is_relative_to(settings.BASE_DIR) else path.name


def _store(job_id: int, reason: str) -> None:
    JobFailure.objects.update_or_create(job_id=job_id, defaults={"reason": reason})
