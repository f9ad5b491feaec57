"""How a request has reached the server: over which protocol, at which path, from whose page."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Arrival:
    """What the ASGI scope of a request or socket says."""

    protocol: str = ""
    """`http` or `websocket`; empty outside a request."""
    path: str = ""
    origin: str | None = None
    """The site whose page has sent it, as browsers say; None where nobody says."""


NOWHERE = Arrival()
_current: ContextVar[Arrival] = ContextVar("arrival", default=NOWHERE)


def begin_arrival(scope: Mapping[str, Any]) -> None:
    """Remember how the request or socket of this task has come."""
    origin = next((value for name, value in scope["headers"] if name == b"origin"), None)
    path = scope.get("path", "")
    _current.set(Arrival(scope["type"], path, None if origin is None else origin.decode("latin-1")))


def current_arrival() -> Arrival:
    """Return how the request or socket has come that this task or thread serves."""
    return _current.get()
