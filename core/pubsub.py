"""Publish and subscribe between processes, over PostgreSQL's LISTEN and NOTIFY.

A message carries only an id. Each subscriber reads the object again through its own scope, so messages reveal
nothing that a subscriber may not see. `publish` is part of the caller's transaction: after a rollback nothing
is sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

logger = logging.getLogger(__name__)
CHANNEL = "locus"
RECONNECT_SECS = 1.0
WITHDRAWN = "withdrawn-documents"
"""The topic of documents that were deleted or moved to another workspace; the message is its id."""


def document_topic(workspace_id: UUID) -> str:
    """Return the topic of changes to a workspace's documents; the message is the document's id."""
    return f"documents:{workspace_id}"


def publish(topic: str, message: str) -> None:
    """Send `message` to all subscribers of `topic` in all processes when the current transaction commits."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {publish_sql('%s', '%s')}", [topic, message])


def publish_sql(topic: str, message: str) -> str:
    """Return SQL that publishes as part of another statement; `topic` and `message` are SQL for texts."""
    return f"pg_notify('{CHANNEL}', {topic} || ' ' || {message})"


class Subscriber:
    """One LISTEN connection for an event loop, shared by all its subscribers.

    The first subscriber opens it. It stays open, so that later ones need not wait for a connection.
    """

    def __init__(self) -> None:
        self._queues: defaultdict[str, set[asyncio.Queue[str]]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[asyncio.Queue[str]]:
        """Yield a queue of the messages under `topic`; nothing published after the yield is missed.

        After a lost connection every queue gets "", which means: read again, messages may have been lost.
        """
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._queues[topic].add(queue)
        if self._task is None or self._task.done():
            self._listening.clear()
            self._task = asyncio.create_task(self._listen_forever())
        try:
            await self._listening.wait()
            yield queue
        finally:
            self._queues[topic].discard(queue)
            if not self._queues[topic]:
                del self._queues[topic]

    async def _listen_forever(self) -> None:
        while True:
            try:
                await self._listen()
            except psycopg.Error as error:
                logger.warning("Lost the notification connection, connecting again: %s", error)
            await asyncio.sleep(RECONNECT_SECS)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(_conninfo(), autocommit=True) as pg:
            await pg.execute(f"LISTEN {CHANNEL}")
            self._listening.set()
            self._put_all()
            async for notification in pg.notifies():
                topic, _, message = notification.payload.partition(" ")
                for queue in self._queues.get(topic, ()):
                    queue.put_nowait(message)

    def _put_all(self) -> None:
        for queues in self._queues.values():
            for queue in queues:
                queue.put_nowait("")


_listeners: dict[asyncio.AbstractEventLoop, Subscriber] = {}


def subscriber() -> Subscriber:
    """Return the running event loop's subscriber."""
    loop = asyncio.get_running_loop()
    return _listeners.setdefault(loop, Subscriber())


def _conninfo() -> str:
    """Return the operator's address with all its options (`sslmode=…`), and the database that Django uses
    now."""
    return make_conninfo(settings.DATABASE_URL, dbname=str(settings.DATABASES["default"]["NAME"]))
