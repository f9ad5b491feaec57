"""Registration of programs: anybody may, so it is bounded in size and number, and what is unused expires."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

from django.db.models import Q, QuerySet
from django.utils import timezone
from pydantic import BaseModel, BeforeValidator, Field
from pydantic import ValidationError as PydanticError

from accounts.models import Program
from accounts.oauth.discovery import SCOPES
from core.errors import Overloaded
from core.text.visible_text import one_line

MOST_BYTES = 16_384
MOST_UNUSED = 5_000
"""Programs that nobody has connected. Beyond these no more are registered until some have expired."""
UNUSED_FOR = timedelta(days=1)
"""So long a program may wait for its first connection."""
DISUSED_FOR = timedelta(days=90)
"""So long a program is known after its last connection has ended."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_OF_AN_ADDRESS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]{1,500}")


class RefusedRegistration(Exception):
    """A registration is not accepted; `code` is that of RFC 7591."""

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


def _is_redirect_uri(uri: str) -> bool:
    """Whether answers may be sent there: by HTTPS, or to a program on the person's own machine."""
    if not _OF_AN_ADDRESS.fullmatch(uri):
        return False
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or "#" in uri:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)


class Registration(BaseModel):
    """What a program says of itself. What it says besides is ignored, as RFC 7591 demands."""

    redirect_uris: list[str] = Field(min_length=1, max_length=10)
    client_name: Annotated[str, BeforeValidator(lambda value: value or "")] = Field("", max_length=1000)
    grant_types: list[str] = Field(["authorization_code"], max_length=10)
    response_types: list[str] = Field(["code"], max_length=10)

    @classmethod
    def of(cls, body: bytes) -> Registration:
        """Read a body, or raise `RefusedRegistration`."""
        try:
            asked = cls.model_validate_json(body)
        except (PydanticError, RecursionError):
            raise RefusedRegistration(
                "invalid_client_metadata", "The body must be JSON with 1 to 10 redirect_uris."
            ) from None
        if "authorization_code" not in asked.grant_types or "code" not in asked.response_types:
            raise RefusedRegistration("invalid_client_metadata", "Only authorization codes are offered.")
        if not all(map(_is_redirect_uri, asked.redirect_uris)):
            raise RefusedRegistration(
                "invalid_redirect_uri",
                "A redirect URI is https, or http on this machine, without a fragment.",
            )
        return asked

    @property
    def name(self) -> str:
        """What people are shown: its own word, or where its answers go."""
        shown = " ".join(one_line(self.client_name).split())
        return shown[:100] or where_it_is(self.redirect_uris[0])


def where_it_is(redirect_uri: str) -> str:
    """Return the host to which answers go."""
    return (urlsplit(redirect_uri).hostname or "")[:100]


def is_on_this_machine(redirect_uri: str) -> bool:
    """Whether answers go to a program on the person's own machine."""
    return urlsplit(redirect_uri).hostname in LOOPBACK


def register(asked: Registration) -> Program:
    """Register a program; raise `Overloaded` while too many wait for their first connection."""
    waiting = Program.objects.filter(last_used_at=None)
    if waiting.count() >= MOST_UNUSED:
        expired_programs().delete()
        if waiting.count() >= MOST_UNUSED:
            raise Overloaded("Too many programs have registered. Try again tomorrow.")
    return Program.objects.create(name=asked.name, redirect_uris=asked.redirect_uris)


def expired_programs() -> QuerySet[Program]:
    """Return the programs that nobody has connected for long."""
    now = timezone.now()
    is_unused = Q(last_used_at=None, created_at__lt=now - UNUSED_FOR)
    is_disused = Q(last_used_at__lt=now - DISUSED_FOR)
    return Program.objects.filter(is_unused | is_disused, keys=None)


def described(program: Program) -> dict[str, Any]:
    """Return a program as the reply to its registration."""
    return {
        "client_id": program.client_id,
        "client_id_issued_at": int(program.created_at.timestamp()),
        "client_name": program.name,
        "redirect_uris": program.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": " ".join(SCOPES),
    }
