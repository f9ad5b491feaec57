"""Follows an execution: stored events first, then new ones, as far as the reader may see them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.conf import settings

from accounts.access.right_watch import right_ended, watch_right
from accounts.principal import Principal
from core.errors import Cancelled
from core.pubsub import WITHDRAWN, subscriber
from core.threads import in_database
from runs.journal import EventCursor, StoredEvent, read, replay, topic
from runs.models import Execution
from runs.withholding import MADE_OF_ALL, hidden_documents, withhold

LAST = 2**31 - 1
TEXTS = frozenset({"contexts", *MADE_OF_ALL})
"""Fields of an event that hold what comes from documents."""


async def follow(
    principal: Principal, execution_id: str, after: int, ping_secs: float
) -> AsyncIterator[StoredEvent | None]:
    """Yield the events with a sequence number above `after` until the terminal one; None as a ping.

    The caller has checked that the principal may see the execution. Text from documents that it no longer
    sees is withheld here, in new and in replayed events. Raises `Unauthenticated` within seconds when the
    principal's right ends.
    """
    sight = Sight(principal, execution_id)
    async with (
        subscriber().subscribe(topic(execution_id)) as messages,
        subscriber().subscribe(WITHDRAWN) as withdrawn,
        watch_right(principal, partial(messages.put_nowait, "")) as right,
    ):
        was_live = False
        replayed = await in_database(replay, execution_id, after) if settings.DATABASE_REPLICA_URLS else []
        while True:
            right.require()
            found = await read(EventCursor(execution_id, LAST if replayed else after, sight.is_unknown))
            while not withdrawn.empty():
                sight.forget(withdrawn.get_nowait())
            if sight.is_unknown and found.documents is None:
                continue
            events = replayed or found.events
            for event in events:
                right.require()
                yield await sight.shown(event, found.documents)
                after = event.seq
            if events and events[-1].is_terminal:
                return
            if found.is_over:
                if was_live:
                    raise Cancelled("The execution was deleted.")
                return
            was_live = True
            if not await _has_more(messages, after, ping_secs):
                yield None


async def wait_until_ended(execution_id: str) -> Execution:
    """Wait until the execution is over, in whatever process it runs, and return it."""
    async with subscriber().subscribe(topic(execution_id)) as messages:
        while not (await read(EventCursor(execution_id, LAST))).is_over:
            await _has_more(messages, 0, settings.SSE_PING_SECS)
    return await in_database(Execution.unscoped.get, pk=execution_id)


async def _has_more(messages: asyncio.Queue[str], seq: int, secs: float) -> bool:
    """Wait for events above `seq`, or for the sign that messages were lost; return False without either."""
    try:
        # A lease expires without a message, because the process that would send it is gone.
        async with asyncio.timeout(min(secs, settings.RUN_LEASE_SECS)):
            while (number := await messages.get()) and int(number) <= seq:
                pass
    except TimeoutError:
        return False
    return True


class Sight:
    """What one reader sees of an execution: looked up once, and again after `forget`."""

    def __init__(self, principal: Principal, execution_id: str) -> None:
        self._principal, self._execution_id = principal, execution_id
        self._read: frozenset[UUID] = frozenset()
        self._hidden: frozenset[str] | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the next text needs a look-up, and for that the documents that the run has read."""
        return self._hidden is None

    def forget(self, document_id: str) -> None:
        """Look up again before the next text: this document was withdrawn ("" stands for any)."""
        if not document_id or UUID(document_id) in self._read:
            self._hidden = None

    async def shown(self, event: StoredEvent, read: frozenset[UUID] | None) -> StoredEvent:
        """Return the event as the reader may see it; `read` is given if it was unknown."""
        if event.data.keys().isdisjoint(TEXTS):
            return event
        if self._hidden is None:
            # The documents read are stored before the first event that depends on them.
            self._read = read or frozenset()
            self._hidden = await in_database(self._look_up)
        return replace(event, data=withhold(event.data, self._hidden)) if self._hidden else event

    def _look_up(self) -> frozenset[str]:
        """Return the hidden documents; raise `Unauthenticated` if the execution is no longer shared."""
        if not Execution.objects.addressable_by(self._principal).filter(pk=self._execution_id).exists():
            raise right_ended()
        return hidden_documents(self._principal, self._read)
