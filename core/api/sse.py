"""Events as Server-Sent Events (contract §7): frames, pings, and large events in slices."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Protocol

from django.conf import settings
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from pydantic import Field
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from core.api.operations import ApiQuery
from core.api.validation import DIGITS
from core.errors import LocusError
from core.http.per_user import streams

PING = b": ping\n\n"
MIN_BYTES = 512

# JSON may hold them as they are, but many clients take them for ends of lines.
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class StreamQuery(ApiQuery):
    """What every stream takes."""

    sse_max_bytes: Annotated[int, Field(ge=MIN_BYTES, le=settings.SSE_MAX_EVENT_BYTES), DIGITS] = Field(
        settings.SSE_MAX_EVENT_BYTES,
        description="The largest frame, its blank line included; larger events come in slices.",
    )


class Sent(Protocol):
    """An event with its number in its stream."""

    @property
    def seq(self) -> int:
        """The number, from 1."""

    @property
    def event(self) -> str:
        """What kind of event it is."""

    @property
    def data(self) -> dict[str, Any]:
        """What it says."""


class AnyAccept(DefaultContentNegotiation):
    """Lets browsers ask for `text/event-stream`; errors that come before the stream are JSON all the same."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Return the first renderer."""
        return renderers[0], renderers[0].media_type


def count_stream(request: Request, user_id: int) -> None:
    """Count a stream that is about to begin; raise `RateLimited` if its user has too many open."""
    streams.count(user_id, getattr(request._request, "scope", {}))


def sse_response(events: AsyncIterator[Sent | None], max_bytes: int) -> StreamingHttpResponse:
    """Return a response that frames `events`; None becomes a ping."""
    # The view's own connection would otherwise stay out of the pool for as long as the stream lasts.
    close_old_connections()
    response = StreamingHttpResponse(_frames(events, max_bytes), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    return response


async def _frames(events: AsyncIterator[Sent | None], max_bytes: int) -> AsyncIterator[bytes]:
    try:
        async for event in events:
            if event is None:
                yield PING
                continue
            for frame in frames(event, max_bytes):
                yield frame
    except LocusError as error:
        # It is about this connection, not an event of what is followed: it has no number.
        yield _frame("error", compact({"event": "error", "data": error.as_json()["error"]}), None)


def frames(event: Sent, max_bytes: int) -> Iterator[bytes]:
    """Yield the event as one frame, or as contiguous `_delta_sse` frames of at most `max_bytes` each."""
    body = compact({"event": event.event, "data": event.data})
    whole = _frame(event.event, body, event.seq)
    if len(whole) <= max_bytes:
        yield whole
    else:
        yield from _delta_frames(event, body, max_bytes)


def _delta_frames(event: Sent, body: str, max_bytes: int) -> Iterator[bytes]:
    """Slice the JSON `body` so that every frame, its blank line included, obeys the limit.

    Only the last frame has an `id:`, so that a client that drops inside the group gets all of it again.
    """
    encoded = body.encode()
    delta: dict[str, Any] = {
        "delta_id": secrets.token_hex(8),
        "target_event": event.event,
        # As wide as they can get, so that a slice that fits now fits with the real numbers.
        "index": len(encoded),
        "total": len(encoded),
        "bytes": len(encoded),
        "sha256": hashlib.sha256(encoded).hexdigest(),
    }
    room = max_bytes - len(_delta_frame(delta, b"", event.seq))
    slices = list(_slices(compact(body).encode()[1:-1], room))
    for index, piece in enumerate(slices):
        last = index == len(slices) - 1
        numbered = delta | {"index": index, "total": len(slices)}
        yield _delta_frame(numbered, piece, event.seq if last else None)


def _slices(escaped: bytes, room: int) -> Iterator[bytes]:
    """Yield slices of at most `room` bytes of JSON in a JSON string, between code points and escapes."""
    start = 0
    while len(escaped) - start > room:
        end = start + room
        while escaped[end] & 0b1100_0000 == 0b1000_0000:
            end -= 1
        # JSON has no control characters: every escape in it is a backslash and one more byte.
        before = escaped[start:end]
        end -= (len(before) - len(before.rstrip(b"\\"))) % 2
        yield escaped[start:end]
        start = end
    yield escaped[start:]


def _delta_frame(delta: dict[str, Any], chunk: bytes, seq: int | None) -> bytes:
    frame = _frame("_delta_sse", compact({"event": "_delta_sse", "data": delta | {"chunk": ""}}), seq)
    end = len(b'"}}\n\n')
    return frame[:-end] + chunk + frame[-end:]


def _frame(name: str, body: str, seq: int | None) -> bytes:
    id_line = f"id: {seq}\n" if seq is not None else ""
    return f"{id_line}event: {name}\ndata: {body}\n\n".encode()


def compact(value: Any) -> str:
    """Return compact JSON on what every client takes for one line; other characters are not escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(LINE_ENDS)
