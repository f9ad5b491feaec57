"""Limits on request bodies: size, speed, and who may send a large one.

Only uploads may exceed `DATA_UPLOAD_MAX_MEMORY_SIZE`. Their sender is identified by the headers before any of
the body is read.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.asgi import ASGIRequest

from accounts.access.auth import Caller, unknown_keys_counted
from accounts.models import User
from accounts.roles import KeyScope
from core.errors import (
    LocusError,
    Overloaded,
    RateLimited,
    RequestTimeout,
    TooLarge,
    ValidationError,
)
from core.http.per_user import uploads
from core.threads import in_database

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

UPLOADS = {
    "POST": re.compile(r"/api/v1/documents|/api/v1/workspaces/import|/v1/files"),
    "PUT": re.compile(r"/api/v1/documents/[^/]+/file"),
}
FORM_BYTES = 2**20
"""Room for the fields and boundaries of a form besides its files."""
LOOK_EVERY_BYTES = 16 * 2**20
"""Bytes of an upload between two checks of the free disk space."""
WAIT_SECS, LOOK_SECS = 30.0, 0.2
"""How long an upload waits for other uploads of its user to end, and how often it checks."""

_in_flight: Counter[int] = Counter()
"""Bytes of the uploads that are being received, by user."""


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The largest body in bytes and, for uploads, the user who sends it."""

    max_bytes: int
    user_id: int | None = None


async def rule_for(scope: Mapping[str, Any], length: int | None, closing: ExitStack) -> BodyRule:
    """Return the rule for a request of `length` bytes, None if unknown; `closing` ends with the request.

    Raises `TooLarge`, the error that refuses this sender, or `Overloaded` if the disk is too full.
    """
    max_bytes = _max_bytes(scope)
    if length is not None and length > max_bytes:
        raise _too_large(max_bytes)
    if not _is_upload(scope):
        return BodyRule(max_bytes)
    user_id = await in_database(_uploader, scope)
    closing.callback(await _wait_for_turn(user_id))
    # Its bytes are stored twice for a moment: as the body, and as the files in it.
    _require_room(2 * (length or 0))
    return BodyRule(max_bytes, user_id)


def _is_upload(scope: Mapping[str, Any]) -> bool:
    pattern = UPLOADS.get(scope["method"])
    return pattern is not None and pattern.fullmatch(scope["path"]) is not None


def _max_bytes(scope: Mapping[str, Any]) -> int:
    if not _is_upload(scope):
        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return _upload_bytes(settings.DATA_UPLOAD_MAX_NUMBER_FILES if scope["method"] == "POST" else 1)


def _upload_bytes(files: int) -> int:
    return int(settings.MAX_UPLOAD_BYTES) * files + FORM_BYTES


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The body is larger than the {max_bytes} bytes that are accepted here.")


def _uploader(scope: Mapping[str, Any]) -> int:
    """Return the user who sends an upload; raise the errors that the view would raise."""
    try:
        request = ASGIRequest(scope, BytesIO())
        session_id = request.GET.get("session_id")
    except UnicodeDecodeError:
        raise ValidationError("The address is not UTF-8.") from None
    request.session = SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    user = get_user(request)
    caller = Caller(scope["headers"], user.pk if isinstance(user, User) else None, session_id)
    with unknown_keys_counted(scope):
        principal = caller.identify()
    principal.require_scope(KeyScope.WRITE)
    return principal.user_id


async def _wait_for_turn(user_id: int) -> Callable[[], None]:
    """Wait until the user has fewer open uploads than allowed; raise `RateLimited` if that takes too long."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECS
    while True:
        try:
            return uploads.take(user_id)
        except RateLimited:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(LOOK_SECS)


def _require_room(more: int) -> None:
    """Raise `Overloaded` unless the disk can hold `more` bytes."""
    if shutil.disk_usage(settings.DATA_DIR).free < settings.MIN_FREE_DISK_BYTES + more:
        raise Overloaded("The server's disk is too full for this upload.")


class LimitedBody:
    """Passes the body of a request on, until it breaks its rule.

    The application then sees a disconnected client, and `refusal` holds the error to send.
    """

    def __init__(self, receive: Receive, rule: BodyRule) -> None:
        self._receive, self._rule = receive, rule
        self._started = asyncio.get_running_loop().time()
        self._received = self._looked_at = 0
        self._is_complete = False
        self.refusal: LocusError | None = None

    async def receive(self) -> Message:
        """Return the next ASGI message."""
        if self._is_complete:
            # The next message is the end of the connection, and may come as late as the reply.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
            self._count(message)
        except TimeoutError:
            return self._refuse(RequestTimeout())
        except LocusError as error:
            return self._refuse(error)
        return message

    def _deadline(self) -> float:
        """Return when the next part of the body is due, in the loop's time."""
        now, patience = asyncio.get_running_loop().time(), settings.BODY_TIMEOUT_SECS
        return float(min(now, self._started + self._received / settings.MIN_BODY_RATE) + patience)

    def _count(self, message: Message) -> None:
        if message["type"] != "http.request":
            self._is_complete = True
            return
        size = len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        self._received += size
        if self._received > self._rule.max_bytes:
            raise _too_large(self._rule.max_bytes)
        if self._rule.user_id is not None:
            self._count_upload(self._rule.user_id, size)

    def _count_upload(self, user_id: int, size: int) -> None:
        _in_flight[user_id] += size
        if _in_flight[user_id] > _upload_bytes(settings.DATA_UPLOAD_MAX_NUMBER_FILES):
            raise RateLimited("Your uploads are too large together. Send one after the other.")
        if self._received - self._looked_at > LOOK_EVERY_BYTES:
            self._looked_at = self._received
            _require_room(self._received)

    def _refuse(self, error: LocusError) -> Message:
        self.refusal, self._is_complete = error, True
        return {"type": "http.disconnect"}

    def forget(self) -> None:
        """Stop counting the body, after the reply."""
        if self._rule.user_id is not None:
            _in_flight[self._rule.user_id] -= self._received
            if _in_flight[self._rule.user_id] <= 0:
                del _in_flight[self._rule.user_id]


def content_length(headers: Mapping[bytes, bytes]) -> int | None:
    """Return `Content-Length`; None if the body comes in chunks or there is none."""
    given = headers.get(b"content-length", b"")
    return int(given) if given.isdigit() and len(given) < 20 else None
