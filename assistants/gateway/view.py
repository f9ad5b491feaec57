"""What all addresses of the gateway share: who is asking, running and following a tool, errors, streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any, Protocol

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import KeyAuthentication
from accounts.access.right_watch import require_right
from accounts.principal import Principal
from assistants.gateway.errors import exception_handler
from assistants.gateway.leaving import end_when_client_leaves, ended_if_left
from assistants.gateway.usage import usage_of
from core.api.sse import LINE_ENDS, PING, AnyAccept
from core.errors import Cancelled, LocusError
from core.http.leaving import stop_if_client_left
from core.threads import in_database
from runs.following import follow, wait_until_ended
from runs.journal import StoredEvent
from runs.models import Execution

DONE = b"data: [DONE]\n\n"
Json = dict[str, Any]


class GatewayView(APIView):
    """An address that other people's clients call: with a key or token, never with a login's cookie."""

    authentication_classes = [KeyAuthentication]
    content_negotiation_class = AnyAccept
    # Asking needs no more than reading.
    required_scope: str | None = "read"
    # The protocols are described by those whose they are; ours is /api/v1.
    schema = None

    def get_exception_handler(self) -> Callable[..., Any]:
        """Return what answers errors in their form."""
        return exception_handler


class ChangingView(GatewayView):
    """An address where some methods change something: the method says which scope a key needs."""

    required_scope = None


def base_url_of(request: Request) -> str:
    """Return where this server's pages are, without a slash at the end."""
    return request.build_absolute_uri("/").rstrip("/")


def wait_for(principal: Principal, execution: Execution) -> Execution:
    """Return the execution once it has ended; raise `Unauthenticated` if the caller's right has, too."""
    # Other requests can use the view's connection while a model writes.
    close_old_connections()
    finished = async_to_sync(_until_ended)(execution.pk)
    require_right(principal)
    return finished


async def _until_ended(execution_id: str) -> Execution:
    with ended_if_left(execution_id):
        stop_if_client_left()
        return await wait_until_ended(execution_id)


class Translation(Protocol):
    """Turns a run's events into JSON of a protocol's stream."""

    def begin(self) -> Iterator[Any]:
        """Yield what comes before the run's first event."""

    def feed(self, event: StoredEvent) -> Iterator[Any]:
        """Yield what an event becomes."""

    def complete(self, result: Json, usage: Json) -> Iterator[Any]:
        """Yield what comes at the end."""

    def fail(self, error: Json, status: str, usage: Json | None) -> Iterator[Any]:
        """Yield what comes instead, if the run fails."""

    @property
    def is_over(self) -> bool:
        """Whether it has yielded its end."""


def stream_response(
    principal: Principal,
    execution: Execution,
    translation: Translation,
    frame: Callable[[int, Any], bytes],
) -> StreamingHttpResponse:
    """Return a run as a stream of Server-Sent Events; `frame` gets the number of each, from 0."""
    close_old_connections()
    end_when_client_leaves(execution.pk)
    frames = _frames(principal, execution, translation, frame)
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


async def _frames(
    principal: Principal,
    execution: Execution,
    translation: Translation,
    frame: Callable[[int, Any], bytes],
) -> AsyncIterator[bytes]:
    number = 0
    with ended_if_left(execution.pk):
        async with aclosing(_translated(principal, execution, translation)) as items:  # type: ignore[type-var]
            async for item in items:
                if item is None:
                    yield PING
                else:
                    yield frame(number, item)
                    number += 1
    yield DONE


async def _translated(
    principal: Principal, execution: Execution, translation: Translation
) -> AsyncIterator[Any]:
    """Yield the items of a translation; None as a ping."""
    for item in translation.begin():
        yield item
    try:
        async with aclosing(follow(principal, execution.pk, 0, settings.SSE_PING_SECS)) as events:  # type: ignore[type-var]
            async for event in events:
                if event is None:
                    yield None
                    continue
                found = await _ended(translation, event) if event.is_terminal else translation.feed(event)
                for item in found:
                    yield item
                if translation.is_over:
                    return
        raise Cancelled("The execution was deleted.")
    except LocusError as error:
        for item in translation.fail(error.as_json()["error"], "failed", None):
            yield item


async def _ended(translation: Translation, event: StoredEvent) -> Iterator[Any]:
    finished, usage = await in_database(_finished, event.execution_id)
    if event.event == "tool_end":
        return translation.complete(event.data, usage)
    return translation.fail(event.data, str(finished.status), usage)


def _finished(execution_id: str) -> tuple[Execution, Json]:
    execution = Execution.unscoped.get(pk=execution_id)
    return execution, usage_of(execution)


def one_line(value: Any) -> str:
    """Return JSON on one line, as every client understands lines."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(LINE_ENDS)
