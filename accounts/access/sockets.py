"""Websocket handshakes: the principal, the origin of the page, and how long the right holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings

from accounts.access.auth import Caller, presented_key, unknown_keys_counted
from accounts.access.right_watch import Right, right_ended, watch
from accounts.access.rights import covers
from accounts.principal import Principal
from core.api.address_token import ADDRESS_TOKEN
from core.errors import Forbidden, LocusError, NotFound, RateLimited, Unauthenticated, ValidationError
from core.http.hosts import is_allowed_host
from core.http.per_user import sockets
from core.threads import in_database
from core.unavailable import PASSING, refusal_for

logger = logging.getLogger(__name__)
WHO, ORIGIN, OBJECT = 4401, 4403, 4404
TRY_AGAIN_LATER = 1013
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class Refused(Exception):
    """The handshake fails; `code` closes the socket (contract §7)."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


class PrincipalConsumer(AsyncJsonWebsocketConsumer):
    """A websocket that identifies its principal first.

    It accepts, then closes with 4401, 4403 or 4404: a close before the accept reaches clients as a bare 403.
    """

    principal: Principal
    _is_open = False
    _right: Right | None = None
    _ending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept, identify the caller, and let the subclass open its object."""
        await self.accept()
        try:
            _check_origin(self.scope, self.query(ADDRESS_TOKEN))
            self.principal = await self._identify()
            sockets.count(self.principal.user_id, self.scope)
            await self.open()
        except Refused as refused:
            await self.close(refused.code)
        except RateLimited as error:
            await self._close_for_now(error)
        except PASSING as error:
            await self._close_for_now(refusal_for(error))
        else:
            self._is_open = True
            self._right = Right(self.principal, self.end_soon)
            watch().add(self._right)

    async def _close_for_now(self, error: LocusError) -> None:
        await self.send_json({"event": "error", "data": error.as_json()["error"]})
        await self.close(TRY_AGAIN_LATER)

    async def websocket_disconnect(self, message: Any) -> None:
        """Clean up."""
        if self._right is not None:
            watch().remove(self._right)
        await super().websocket_disconnect(message)

    async def end(self, code: int) -> None:
        """Close an open socket; if its right has ended, send the error first."""
        if not self._is_open:
            return
        self._is_open = False
        await self.disconnect(code)
        if code == WHO:
            await self.send_json({"event": "error", "data": right_ended().as_json()["error"]})
        await self.close(code)

    def end_soon(self, code: int = WHO) -> None:
        """Close in a task of its own, because closing cancels the tasks that send."""
        self._ending = asyncio.get_running_loop().create_task(self.end(code))

    async def identify_again(self) -> None:
        """Identify the caller again; raise `Refused` if its right has ended or has become smaller."""
        principal = await self._identify()
        if not covers(principal, self.principal):
            raise Refused(WHO)
        self.principal = principal

    async def websocket_receive(self, message: Any) -> None:
        """Handle a message, unless the handshake was refused: the client may have sent it before it knew."""
        if self._is_open:
            await super().websocket_receive(message)

    async def open(self) -> None:
        """Find the socket's object; raise `Refused(OBJECT)` if the caller can't see it."""

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Ignore messages, unless a subclass handles them."""

    def query(self, name: str) -> str | None:
        """Return a parameter of the socket's address."""
        values = parse_qs(self.scope["query_string"].decode("latin-1")).get(name)
        return values[0] if values else None

    def named_session(self) -> str | None:
        """Return the id of the session that the socket is within, as the address has it."""
        return self.query("session_id")

    async def _identify(self) -> Principal:
        user: Any = self.scope.get("user")
        login = getattr(self.scope.get("session"), "session_key", None)
        if _is_foreign(self.scope):
            # Of a foreign page only a token counts: a browser sends cookies whoever wrote the page.
            user = login = None
        caller = Caller(
            self.scope["headers"],
            getattr(user, "pk", None),
            self.named_session(),
            login,
            self.query(ADDRESS_TOKEN),
        )
        try:
            principal = await in_database(self._identify_counted, caller)
        except (Unauthenticated, Forbidden, ValidationError):
            raise Refused(WHO) from None
        except NotFound:
            raise Refused(OBJECT) from None
        return principal

    def _identify_counted(self, caller: Caller) -> Principal:
        """Identify the caller; only a handshake counts as an attempt to guess a key."""
        if self._is_open:
            return caller.identify()
        with unknown_keys_counted(self.scope):
            return caller.identify()


def _check_origin(scope: Mapping[str, Any], address_token: str | None) -> None:
    """Accept a browser's page from this server or a listed origin.

    Programs with a key or token may have no origin.
    """
    if not is_allowed_host(scope["headers"]):
        raise Refused(ORIGIN)
    if not _origin(scope):
        try:
            has_key = presented_key(scope["headers"]) is not None or address_token is not None
        except LocusError:
            raise Refused(WHO) from None
        if not has_key:
            raise Refused(ORIGIN if scope.get("user") and scope["user"].is_authenticated else WHO)
    elif _is_foreign(scope) and _origin(scope) not in settings.CORS_ORIGINS:
        raise Refused(ORIGIN)


def _is_foreign(scope: Mapping[str, Any]) -> bool:
    """Whether the socket was opened by a page of another site, listed or not."""
    origin = _origin(scope)
    return bool(origin) and origin not in {_own_origin(scope), *settings.CSRF_TRUSTED_ORIGINS}


def _origin(scope: Mapping[str, Any]) -> str:
    return str(dict(scope["headers"]).get(b"origin", b"").decode("latin-1"))


def _own_origin(scope: Mapping[str, Any]) -> str:
    """Return the origin, in a browser's form, of this server's pages under the socket's host."""
    scheme = scope.get("scheme", "ws").replace("ws", "http")
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
    return f"{scheme}://{host.removesuffix(DEFAULT_PORTS.get(scheme, ''))}"


class UnknownPath(PrincipalConsumer):
    """Refuses any other address."""

    async def open(self) -> None:
        """Refuse."""
        raise Refused(OBJECT)
