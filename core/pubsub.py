"""Publish and subscribe between processes, over PostgreSQL's LISTEN and NOTIFY, or over Redis (`REDIS_URL`).

A message carries only an id. Each subscriber reads the object again through its own scope, so messages reveal
nothing that a subscriber may not see. Messages are sent when the caller's transaction commits: after a
rollback nothing is sent.

Redis takes the load of many streams from PostgreSQL, and no message depends on it: what can't be sent there
goes through PostgreSQL, where everybody listens too.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection, transaction
from psycopg.conninfo import make_conninfo
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
CHANNEL = "locus"
RECONNECT_SECS = 1.0
REDIS_SECS = 1.0
REDIS_CHECK_SECS = 10
TIME_LIMITS: dict[str, Any] = {"socket_timeout": REDIS_SECS, "socket_connect_timeout": REDIS_SECS}
CANCEL_AGAIN_SECS = 0.1
Listen = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
WITHDRAWN = "withdrawn-documents"
"""The topic of documents that were deleted or moved to another workspace; the message is its id."""


def document_topic(workspace_id: UUID) -> str:
    """Return the topic of changes to a workspace's documents; the message is the document's id."""
    return f"documents:{workspace_id}"


def publish(topic: str, message: str) -> None:
    """Send `message` to all subscribers of `topic` in all processes when the current transaction commits."""
    if settings.REDIS_URL:
        publish_all([(topic, message)])
    else:
        _notify([(topic, message)])


def publish_all(messages: Sequence[tuple[str, str]]) -> None:
    """Send messages, each with its topic, over Redis when the current transaction commits."""
    if messages:
        transaction.on_commit(partial(_send, messages), robust=True)


def publish_sql(topic: str, message: str) -> str:
    """Return SQL that publishes as part of another statement; `topic` and `message` are SQL for texts.

    With `REDIS_URL` it publishes nothing: the caller calls `publish_all` after the statement.
    """
    return "NULL" if settings.REDIS_URL else f"pg_notify('{CHANNEL}', {topic} || ' ' || {message})"


def _send(messages: Sequence[tuple[str, str]]) -> None:
    try:
        with _redis().pipeline(transaction=False) as pipeline:
            for topic, message in messages:
                pipeline.publish(_redis_channel(), f"{topic} {message}")
            pipeline.execute()
    except RedisError as error:
        logger.warning("Redis can't be reached, PostgreSQL sends the notifications: %s", error)
        _notify(messages)


def _notify(messages: Sequence[tuple[str, str]]) -> None:
    with connection.cursor() as cursor:
        for topic, message in messages:
            cursor.execute("SELECT pg_notify(%s, %s || ' ' || %s)", [CHANNEL, topic, message])


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, **TIME_LIMITS)


def _redis_channel() -> str:
    return f"{settings.REDIS_PREFIX}:notifications"


class Subscriber:
    """One connection that listens for an event loop, and one more to Redis, shared by all its subscribers.

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
        if settings.REDIS_URL:
            async with asyncio.TaskGroup() as sources:
                heard = asyncio.Event()
                sources.create_task(self._keep(self._listen_to_redis, heard))
                # The first attempt only: a Redis that is down holds nobody up.
                await heard.wait()
                sources.create_task(self._keep(self._listen))
        else:
            await self._keep(self._listen)

    async def _keep(self, listen: Listen, tried: asyncio.Event | None = None) -> None:
        """Listen again after each loss of the connection; set `tried` once a first attempt has an outcome."""
        tried = tried or asyncio.Event()
        while True:
            try:
                await _until_cancelled(listen(tried))
            except (psycopg.Error, RedisError, OSError) as error:
                logger.warning("Lost the notification connection, connecting again: %s", error)
            tried.set()
            await asyncio.sleep(RECONNECT_SECS)

    async def _listen(self, tried: asyncio.Event) -> None:
        async with await psycopg.AsyncConnection.connect(_conninfo(), autocommit=True) as pg:
            await pg.execute(f"LISTEN {CHANNEL}")
            self._listening.set()
            self._put_all()
            async for notification in pg.notifies():
                self._put(notification.payload)

    async def _listen_to_redis(self, tried: asyncio.Event) -> None:
        # Only the connection has a time limit: messages may be hours apart.
        limits: dict[str, Any] = {
            "socket_connect_timeout": REDIS_SECS,
            "health_check_interval": REDIS_CHECK_SECS,
        }
        client = AsyncRedis.from_url(settings.REDIS_URL, decode_responses=True, **limits)
        async with client, client.pubsub() as messages:
            await messages.subscribe(_redis_channel())
            async for message in messages.listen():
                if message["type"] == "subscribe":
                    tried.set()
                    self._put_all()
                else:
                    self._put(message["data"])

    def _put(self, payload: str) -> None:
        topic, _, message = payload.partition(" ")
        for queue in self._queues.get(topic, ()):
            queue.put_nowait(message)

    def _put_all(self) -> None:
        for queues in self._queues.values():
            for queue in queues:
                queue.put_nowait("")


async def _until_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Await some work; when cancelled, cancel it until it has ended.

    One cancellation may be lost in a library, as `asyncio.wait_for` loses one before Python 3.12 if what it
    waits for comes at that moment. The loop would then never close. A loop that closes cancels this, and the
    group that it belongs to, which cancels it once more: it must not leave its work behind then.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        while not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task], timeout=CANCEL_AGAIN_SECS)
        if not task.cancelled():
            # What it raised has nobody to tell.
            task.exception()
        raise
    task.result()


_listeners: dict[asyncio.AbstractEventLoop, Subscriber] = {}


def subscriber() -> Subscriber:
    """Return the running event loop's subscriber."""
    loop = asyncio.get_running_loop()
    return _listeners.setdefault(loop, Subscriber())


def _conninfo() -> str:
    """Return the operator's address with all its options (`sslmode=…`), and the database that Django uses
    now.

    `LISTEN` belongs to a session: behind a pooler of transactions it needs the server itself.
    """
    url = settings.DATABASE_DIRECT_URL or settings.DATABASE_URL
    return make_conninfo(url, dbname=str(settings.DATABASES["default"]["NAME"]))
