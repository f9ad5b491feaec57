"""Django's ASGI handler, with bodies below `DATA_DIR` instead of the system's temporary folder.

It also notes the clients that leave.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler

from core.http.leaving import expect_client, note_leaving


class Handler(ASGIHandler):
    """Keeps large uploads out of memory on systems whose temporary folder lies in memory."""

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        expect_client()
        await super().handle(scope, receive, send)

    async def listen_for_disconnect(self, receive: Any) -> None:
        """Wait until the client leaves; raise `RequestAborted` then."""
        try:
            await super().listen_for_disconnect(receive)
        except RequestAborted:
            note_leaving()
            raise

    async def read_body(self, receive: Callable[[], Awaitable[Mapping[str, Any]]]) -> Any:
        """Return the body as an open file; raise `RequestAborted` if the client disconnects earlier."""
        body = SpooledTemporaryFile(  # noqa: SIM115 - the handler closes it
            max_size=settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=str(settings.FILE_UPLOAD_TEMP_DIR)
        )
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                body.close()
                raise RequestAborted
            body.write(message.get("body", b""))
            if not message.get("more_body", False):
                body.seek(0)
                return body
