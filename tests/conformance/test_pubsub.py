"""Notifications between processes: the same over PostgreSQL and over Redis, and when Redis is away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.cache import caches
from django.db import connection, transaction

from core import pubsub
from core.json_serializer import JsonSerializer
from core.pubsub import Subscriber, publish
from tests.testing.valkey import Valkey, valkey_server

pytestmark = pytest.mark.django_db(transaction=True)
WAIT_SECS = 60


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    with valkey_server() as server:
        yield server


@pytest.fixture
def over_redis(server: Valkey, settings: Any) -> Iterator[Valkey]:
    settings.REDIS_URL = server.url
    pubsub._redis.cache_clear()
    yield server
    pubsub._redis().close()
    pubsub._redis.cache_clear()


@pytest.fixture(params=["postgresql", "redis"])
def way(request: pytest.FixtureRequest) -> str:
    """Each way in which messages go."""
    if request.param == "redis":
        request.getfixturevalue("over_redis")
    return str(request.param)


async def send(*messages: tuple[str, str]) -> None:
    def publish_and_close() -> None:
        for topic, message in messages:
            publish(topic, message)
        connection.close()

    await sync_to_async(publish_and_close)()


async def next_word(queue: asyncio.Queue[str]) -> str:
    """Return the next message that says something."""
    async with asyncio.timeout(WAIT_SECS):
        while not (word := await queue.get()):
            pass
        return word


async def end(subscriber: Subscriber) -> None:
    assert subscriber._task
    subscriber._task.cancel()
    await asyncio.gather(subscriber._task, return_exceptions=True)


async def test_messages_reach_those_who_want_their_topic(way: str) -> None:
    subscriber = Subscriber()
    async with subscriber.subscribe("one") as first, subscriber.subscribe("two") as second:
        await send(("one", "a"), ("two", "b c"), ("one", "d"))
        assert [await next_word(first), await next_word(first)] == ["a", "d"]
        assert await next_word(second) == "b c"
    await end(subscriber)


async def test_all_processes_hear_it(way: str) -> None:
    one, other = Subscriber(), Subscriber()
    async with one.subscribe("topic") as first, other.subscribe("topic") as second:
        await send(("topic", "a"))
        assert [await next_word(first), await next_word(second)] == ["a", "a"]
    await end(one)
    await end(other)


async def test_nothing_is_sent_after_a_rollback(way: str) -> None:
    def roll_back() -> None:
        with transaction.atomic():
            publish("topic", "never")
            transaction.set_rollback(True)
        connection.close()

    subscriber = Subscriber()
    async with subscriber.subscribe("topic") as queue:
        await sync_to_async(roll_back)()
        await send(("topic", "then"))
        assert await next_word(queue) == "then"
    await end(subscriber)


async def test_without_redis_messages_go_through_postgresql(over_redis: Valkey) -> None:
    subscriber = Subscriber()
    try:
        async with subscriber.subscribe("topic") as queue:
            await send(("topic", "a"))
            assert await next_word(queue) == "a"
            over_redis.kill()
            await send(("topic", "b"))
            assert await next_word(queue) == "b"
    finally:
        over_redis.start()
        await end(subscriber)


async def test_a_redis_that_is_down_holds_nobody_up_and_is_found_again(over_redis: Valkey) -> None:
    over_redis.kill()
    subscriber = Subscriber()
    try:
        async with asyncio.timeout(WAIT_SECS), subscriber.subscribe("topic") as queue:
            await send(("topic", "a"))
            assert await next_word(queue) == "a"
            while not queue.empty():
                queue.get_nowait()
            over_redis.start()
            # The sign that messages may have been lost.
            assert await queue.get() == ""
            await send(("topic", "b"))
            assert await next_word(queue) == "b"
    finally:
        await end(subscriber)


@pytest.mark.parametrize("value", ["text", 7, 2.5, True, None, [1, "a"], {"a": {"b": [None]}}, ""])
def test_the_cache_keeps_values_as_json(server: Valkey, settings: Any, value: Any) -> None:
    options = {"serializer": "core.json_serializer.JsonSerializer", "socket_timeout": 1}
    backend = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": server.url}
    settings.CACHES = {"default": backend | {"OPTIONS": options}}
    caches["default"].set("key", value)
    assert caches["default"].get("key", "nothing") == value
    stored = JsonSerializer().dumps(value)
    assert JsonSerializer().loads(str(stored) if isinstance(stored, int) else stored) == value
    caches["default"].close()
