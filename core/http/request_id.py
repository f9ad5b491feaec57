"""The id of the current request: in its response, in log lines, in error messages."""

from __future__ import annotations

import logging
import re
import secrets
from contextvars import ContextVar

HEADER = "X-Request-Id"
_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,128}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def begin_request(given: str | None) -> str:
    """Return the client's id (`given`) if it is usable, else a new one; log lines now carry it."""
    id = given if given and _GIVEN.fullmatch(given) else new_request_id()
    _current.set(id)
    return id


def new_request_id() -> str:
    """Return a unique id."""
    return secrets.token_hex(12)


def current_request_id() -> str:
    """Return the id of the request that this task or thread handles; "" outside a request."""
    return _current.get()


class RequestIdFilter(logging.Filter):
    """Gives each log record the field `request`: a space and the request's id in brackets, or ""."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Accept every record."""
        id = current_request_id()
        record.request = f" [{id}]" if id else ""
        return True
