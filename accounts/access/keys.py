"""API keys: created once, shown once, stored as a look-up prefix and a keyed hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import ApiKey, User, Workspace
from accounts.principal import Principal
from accounts.roles import KeyScope
from core.errors import Unauthenticated

KEY_MARK = "locus_"
PREFIX_LENGTH = 10
# Storing the time at every request would turn each read into a write.
LAST_USED_RESOLUTION = timedelta(minutes=1)


class UnknownKey(Unauthenticated):
    """The key does not exist, has expired or was revoked."""


@transaction.atomic
def create_key(
    user: User,
    name: str,
    *,
    scopes: Iterable[str] = (KeyScope.READ, KeyScope.WRITE),
    workspaces: Iterable[Workspace] | None = None,
    expires_at: datetime | None = None,
    made_by: ApiKey | None = None,
) -> tuple[ApiKey, str]:
    """Create a key and return it with its secret, which is not stored.

    `workspaces=None` gives the key all that its user may read; a list, even an empty one, narrows it. A key
    that was `made_by` another is revoked with it.
    """
    prefix, secret = secrets.token_hex(PREFIX_LENGTH // 2), secrets.token_urlsafe(32)
    token = f"{KEY_MARK}{prefix}_{secret}"
    key = ApiKey.objects.create(
        user=user,
        name=name,
        prefix=prefix,
        digest=_digest(token),
        scopes=sorted(set(scopes)),
        narrowed=workspaces is not None,
        expires_at=expires_at,
        made_by=made_by,
    )
    key.workspaces.set(workspaces or [])
    return key, token


def authenticate(token: str) -> ApiKey:
    """Return the key of `token`, or raise `Unauthenticated`."""
    prefix = token.removeprefix(KEY_MARK)[:PREFIX_LENGTH]
    key = ApiKey.objects.select_related("user").filter(prefix=prefix).first() if token.isascii() else None
    known = key is not None and hmac.compare_digest(key.digest, _digest(token))
    if key is None or not known or key.is_expired() or not key.user.is_active:
        raise UnknownKey("This API key is unknown, expired or revoked.")
    _note_use(key)
    return key


def keys_within_reach(principal: Principal) -> QuerySet[ApiKey]:
    """Return the keys that a principal may list and revoke: those of its user, within its narrowing."""
    own = ApiKey.objects.filter(user_id=principal.user_id)
    maker = maker_of(principal)
    if maker is None or not maker.narrowed:
        return own
    outside = Workspace.objects.exclude(pk__in=maker.workspaces.values("pk"))
    return own.filter(narrowed=True).exclude(workspaces__in=outside)


def maker_of(principal: Principal) -> ApiKey | None:
    """Return the principal's key; None for a logged-in person."""
    return None if principal.key_id is None else ApiKey.objects.get(pk=principal.key_id)


def bound_made_keys(maker: ApiKey) -> None:
    """Remove from the keys that a key made, and from those they made, rights that it no longer has itself."""
    for key in maker.made_keys.all():
        key.scopes = sorted(set(key.scopes) & set(maker.scopes))
        ends = [end for end in (key.expires_at, maker.expires_at) if end is not None]
        key.expires_at = min(ends, default=None)
        if maker.narrowed:
            allowed = set(maker.workspaces.all())
            key.workspaces.set(allowed & set(key.workspaces.all()) if key.narrowed else allowed)
            key.narrowed = True
        key.save(update_fields=["scopes", "expires_at", "narrowed"])
        bound_made_keys(key)


def _digest(token: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), token.encode(), hashlib.sha256).hexdigest()


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > LAST_USED_RESOLUTION:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
