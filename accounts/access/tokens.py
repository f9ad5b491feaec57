"""Tokens: what a key is turned into for a browser. Signed, short-lived, never wider than the key (ADR 38).

A token is `locus_token_` and claims signed with SECRET_KEY. Nothing of it is stored: it names its key and the
key's secret, and both are looked up at each request.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from django.core import signing
from django.utils import timezone
from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints
from pydantic import ValidationError as PydanticError

from accounts.access.identity import in_session, narrowed, principal_of_key
from accounts.access.keys import UnknownKey, is_usable, note_use
from accounts.models import ApiKey
from accounts.principal import Principal
from core.errors import NotFound

TOKEN_MARK = "locus_token_"  # noqa: S105
MAX_TTL_SECS, DEFAULT_TTL_SECS = 3600, 900


class Claims(BaseModel):
    """What a token says. Its rights are written out, so that it ends when its key no longer has them."""

    model_config = ConfigDict(extra="forbid")

    key: UUID
    secret: int
    scopes: list[str]
    workspaces: list[UUID] | None
    """None: all that the key's user may read, as long as the key is not narrowed."""
    external_user: Annotated[str, StringConstraints(min_length=1)] | None
    session: UUID | None
    expires: AwareDatetime
    binding: UUID | None = None
    """The widget that it is for. Its session is made by the first question, and need not be there yet."""


def is_token(credential: str) -> bool:
    """Whether a credential is meant as a token rather than a key."""
    return credential.startswith(TOKEN_MARK)


def make_token(principal: Principal, expires_at: datetime) -> str:
    """Return a token for what the principal of a key may do, see and speak for."""
    assert principal.key_id is not None
    assert principal.secret_number is not None
    claims = Claims(
        key=principal.key_id,
        secret=principal.secret_number,
        scopes=sorted(principal.scopes),
        workspaces=sorted(principal.workspace_ids) if principal.narrowed else None,
        external_user=principal.external_user_id,
        session=principal.session_id,
        binding=principal.binding_id,
        expires=expires_at.astimezone(UTC),
    )
    return TOKEN_MARK + _signer().sign_object(claims.model_dump(mode="json"))


def authenticate_token(token: str) -> tuple[ApiKey, Principal]:
    """Return a token's key and the principal that it speaks for, or raise `UnknownKey`.

    A token ends with its session, and with any right of its key that it claims.
    """
    claims = _claims_of(token)
    key = ApiKey.objects.select_related("user").filter(pk=claims.key).first()
    if key is None or not is_usable(key) or not key.accepts_secret(claims.secret):
        raise UnknownKey
    if not _covers(key, claims):
        raise UnknownKey
    note_use(key, claims.secret)
    principal = replace(
        principal_of_key(key, claims.external_user, claims.secret),
        scopes=frozenset(claims.scopes),
        token_expires_at=claims.expires,
        binding_id=claims.binding,
    )
    if claims.workspaces is not None:
        principal = narrowed(principal, claims.workspaces)
    if claims.binding is not None:
        return key, replace(principal, session_id=claims.session)
    try:
        return key, principal if claims.session is None else in_session(principal, claims.session)
    except NotFound:
        raise UnknownKey from None


def _signer() -> signing.Signer:
    # Not the usual “:”, which is not allowed after “Bearer”.
    return signing.Signer(salt="accounts.access.tokens", sep=".")


def _claims_of(token: str) -> Claims:
    try:
        claims = Claims.model_validate(_signer().unsign_object(token.removeprefix(TOKEN_MARK)))
    # The signature is checked first: what is not ours is never decoded.
    except (signing.BadSignature, PydanticError, ValueError):
        raise UnknownKey from None
    if claims.expires <= timezone.now():
        raise UnknownKey
    return claims


def _covers(key: ApiKey, claims: Claims) -> bool:
    """Whether the key still has all that the token claims."""
    if not set(claims.scopes) <= set(key.scopes):
        return False
    if not key.narrowed:
        return True
    return claims.workspaces is not None and set(claims.workspaces) <= set(
        key.workspaces.values_list("pk", flat=True)
    )
