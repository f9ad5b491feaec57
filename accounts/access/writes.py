"""Who has written reads what it wrote: a middleware that remembers changes for the choice of a replica."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from core.database.replicas import remember_write
from core.threads import in_database

Answer = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
READS = frozenset({"GET", "HEAD", "OPTIONS"})
WRITER = "writer_id"
"""The attribute of a request that authentication sets: the id of its user."""


@sync_and_async_middleware
def remember_writes(get_response: Answer) -> Answer:
    """After a request that may have changed something, let its user's next reads see that."""
    if not settings.DATABASE_REPLICA_URLS:
        raise MiddlewareNotUsed
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            if request.method not in READS and (writer := _writer(request)) is not None:
                await in_database(remember_write, writer)
            return response

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        if request.method not in READS and (writer := _writer(request)) is not None:
            remember_write(writer)
        return response

    return answer


def _writer(request: HttpRequest) -> int | None:
    """Return the id of the user of an API request, or of a page whose view has looked at its user."""
    user = getattr(request, "_cached_user", None)
    writer: int | None = getattr(request, WRITER, None) or getattr(user, "pk", None)
    return writer
