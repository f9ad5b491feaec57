"""API keys: created once, shown once, stored as a look-up prefix and a keyed hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator
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
    """The key or token does not exist, has expired or was revoked: which of these is not said."""

    default_message = "This API key or token is unknown, expired or revoked."


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
    prefix = secrets.token_hex(PREFIX_LENGTH // 2)
    secret = _new_secret(prefix)
    key = ApiKey.objects.create(
        user=user,
        name=name,
        prefix=prefix,
        digest=digest_of(secret),
        scopes=sorted(set(scopes)),
        narrowed=workspaces is not None,
        expires_at=expires_at,
        made_by=made_by,
    )
    key.workspaces.set(workspaces or [])
    return key, secret


def authenticate(secret: str) -> tuple[ApiKey, int]:
    """Return the key of `secret` and the secret's number, or raise `UnknownKey`."""
    prefix = secret.removeprefix(KEY_MARK)[:PREFIX_LENGTH]
    key = ApiKey.objects.select_related("user").filter(prefix=prefix).first() if secret.isascii() else None
    number = None if key is None else _secret_number(key, secret)
    if key is None or number is None or not is_usable(key):
        raise UnknownKey
    note_use(key, number)
    return key, number


def is_usable(key: ApiKey) -> bool:
    """Whether the key has not expired and its user may log in."""
    return not key.is_expired() and key.user.is_active


def rotate(key: ApiKey, overlap: timedelta) -> str:
    """Give a key a new secret and return it; the present one works until `overlap` ends.

    A secret that an earlier rotation left working ends at once: a key has two secrets at most.
    """
    with transaction.atomic():
        # Two rotations at once must not both return a secret.
        key = ApiKey.objects.select_for_update().get(pk=key.pk)
        secret = _new_secret(key.prefix)
        key.old_digest, key.digest = key.digest, digest_of(secret)
        key.old_secret_until, key.old_secret_used_at = timezone.now() + overlap, None
        key.secret_number += 1
        key.save(
            update_fields=["digest", "old_digest", "old_secret_until", "old_secret_used_at", "secret_number"]
        )
    return secret


def end_old_secret(key: ApiKey) -> None:
    """End the overlap of a rotation now."""
    ApiKey.objects.filter(pk=key.pk).update(old_digest="", old_secret_until=None, old_secret_used_at=None)


def keys_within_reach(principal: Principal) -> QuerySet[ApiKey]:
    """Return the keys that a principal may list and revoke: those of its user, within its narrowing.

    What the user has allowed connected programs has a page of its own (`accounts.oauth.connections`).
    """
    own = ApiKey.objects.filter(user_id=principal.user_id, program=None)
    maker = maker_of(principal)
    if maker is None or not maker.narrowed:
        return own
    outside = Workspace.objects.exclude(pk__in=maker.workspaces.values("pk"))
    return own.filter(narrowed=True).exclude(workspaces__in=outside)


def maker_of(principal: Principal) -> ApiKey | None:
    """Return the principal's key; None for a logged-in person."""
    return None if principal.key_id is None else ApiKey.objects.get(pk=principal.key_id)


def lineage_of(key: ApiKey) -> Iterator[ApiKey]:
    """Yield a key, the key that made it, the one that made that, and so on."""
    ancestor: ApiKey | None = key
    while ancestor is not None:
        yield ancestor
        ancestor = ancestor.made_by


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


def note_use(key: ApiKey, secret_number: int) -> None:
    """Remember that a secret of the key was used, at most once a minute."""
    now = timezone.now()
    fields = ["last_used_at"] + (["old_secret_used_at"] if secret_number < key.secret_number else [])
    stale = [field for field in fields if _is_stale(getattr(key, field), now)]
    if stale:
        ApiKey.objects.filter(pk=key.pk).update(**dict.fromkeys(stale, now))


def _is_stale(noted: datetime | None, now: datetime) -> bool:
    return noted is None or now - noted > LAST_USED_RESOLUTION


def _new_secret(prefix: str) -> str:
    return f"{KEY_MARK}{prefix}_{secrets.token_urlsafe(32)}"


def _secret_number(key: ApiKey, secret: str) -> int | None:
    """Return which of the key's secrets `secret` is; None for neither."""
    if _is_digest(key, "digest", secret):
        return key.secret_number
    is_old = key.old_secret_works() and _is_digest(key, "old_digest", secret)
    return key.secret_number - 1 if is_old else None


def _is_digest(key: ApiKey, field: str, secret: str) -> bool:
    """Whether a field of the key holds the secret's digest.

    The first release made digests with SECRET_KEY. They are rewritten at their first use (ADR 38).
    """
    stored, digest = getattr(key, field), digest_of(secret)
    if hmac.compare_digest(stored, digest):
        return True
    earlier = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    if not any(hmac.compare_digest(stored, _keyed_hash(pepper, secret)) for pepper in earlier):
        return False
    ApiKey.objects.filter(pk=key.pk, **{field: stored}).update(**{field: digest})
    return True


def digest_of(secret: str) -> str:
    """Return what is stored of a secret."""
    return _keyed_hash(settings.KEY_PEPPER, secret)


def _keyed_hash(pepper: str, secret: str) -> str:
    return hmac.new(pepper.encode(), secret.encode(), hashlib.sha256).hexdigest()
