"""Who leaves a response that nobody can come back to, leaves no run behind."""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.conf import settings

from core.http.leaving import when_client_leaves
from core.row_access import as_system
from core.threads import in_database
from runs.lifecycle import cancel
from runs.models import LIVE, Execution

_readers: Counter[str] = Counter()
"""By execution: how many requests of this process read it."""
_waiting: set[asyncio.Task[None]] = set()
# The loop keeps only weak references to tasks.


@contextmanager
def ended_if_left(execution_id: str) -> Iterator[None]:
    """Read an execution within a block; if the block is left early, by its client, end the execution a while
    later (`RESPONSE_LEFT_SECS`), unless somebody reads it again by then."""
    _readers[execution_id] += 1
    try:
        yield
    except BaseException:
        # A client's leaving is a cancellation or a generator's exit; after an error nobody reads on either.
        end_if_unread(execution_id)
        raise
    finally:
        _readers[execution_id] -= 1
        if not _readers[execution_id]:
            del _readers[execution_id]


def end_when_client_leaves(execution_id: str) -> None:
    """Have an execution ended if the client of this request leaves, also before anything reads it."""
    when_client_leaves(partial(end_if_unread, execution_id))


def end_if_unread(execution_id: str) -> None:
    """End an execution a while later, unless somebody reads it by then; to be called in the event loop."""
    # A context of its own: that of the request ends with it.
    task = asyncio.get_running_loop().create_task(_end(execution_id), context=contextvars.Context())
    _waiting.add(task)
    task.add_done_callback(_waiting.discard)


async def _end(execution_id: str) -> None:
    await asyncio.sleep(settings.RESPONSE_LEFT_SECS)
    if execution_id not in _readers:
        await in_database(_cancel, execution_id)


@as_system("ends a run that its own client has left")
def _cancel(execution_id: str) -> None:
    for execution in Execution.unscoped.filter(pk=execution_id, status__in=LIVE):
        cancel(execution)
