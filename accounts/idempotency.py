"""`Idempotency-Key`: a request that is sent twice runs once and gets one reply (contract §3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from procrastinate.contrib.django import app
from pydantic import JsonValue
from rest_framework.request import Request

from accounts.models import IdempotentRequest
from accounts.principal import Principal
from core.errors import IdempotencyConflict, ValidationError
from core.text.storable import is_storable

HEADER = "Idempotency-Key"
MAX_KEY = 255
KEPT = timedelta(hours=24)
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="The same request with the same key gets the same reply for 24 hours; another request 409.",
)


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a request, private to its sender, and a digest of the request."""

    user_id: int
    external_user_id: str | None
    narrowing: str
    """A digest of the workspaces that the API key is narrowed to, "" if it is not."""
    key: str
    fingerprint: str


def idempotency_key(request: Request, principal: Principal, asked: Callable[[], JsonValue]) -> Key | None:
    """Return the request's key if it has one; raise `ValidationError` for an invalid one.

    `asked` returns what identifies the request besides method and path: the body, or for files their digests.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not key.strip() or len(key) > MAX_KEY or not is_storable(key):
        raise ValidationError(f"{HEADER} must be 1 to {MAX_KEY} visible characters.", param=HEADER)
    session = str(principal.session_id) if principal.session_id else None
    whole = json.dumps([request.method, request.path, session, asked()], sort_keys=True)
    fingerprint = hashlib.sha256(whole.encode()).hexdigest()
    return Key(principal.user_id, principal.external_user_id, _narrowing(principal), key, fingerprint)


def _narrowing(principal: Principal) -> str:
    """Return a digest that separates a user's narrowed keys: none gets the reply of one that may see more."""
    if not principal.narrowed:
        return ""
    return hashlib.sha256(b"".join(sorted(id.bytes for id in principal.workspace_ids))).hexdigest()


@transaction.atomic
def run_once(key: Key, act: Callable[[], JsonValue]) -> tuple[JsonValue, bool]:
    """Return the result of the first call of `act` with this key, and whether that was now.

    `act` is part of the transaction: if it raises, the key is unused. The same request, sent twice at once,
    waits here for the first. Raises `IdempotencyConflict` if the key came with another request.
    """
    same = {
        "user_id": key.user_id,
        "external_user_id": key.external_user_id,
        "narrowing": key.narrowing,
        "key": key.key,
    }
    IdempotentRequest.objects.filter(**same, created_at__lt=timezone.now() - KEPT).delete()
    new = IdempotentRequest(**same, fingerprint=key.fingerprint)
    IdempotentRequest.objects.bulk_create([new], ignore_conflicts=True)
    row = IdempotentRequest.objects.select_for_update().get(**same)
    if row.fingerprint != key.fingerprint:
        raise IdempotencyConflict
    if row.outcome is not None:
        return row.outcome, False
    row.outcome = act()
    row.save(update_fields=["outcome"])
    return row.outcome, True


def forget_outcome(user_id: int, outcome: JsonValue) -> None:
    """Allow new use of keys whose outcome no longer exists."""
    IdempotentRequest.objects.filter(user_id=user_id, outcome=outcome).delete()


def forget_outcomes_of(external_user_id: str, ids: Collection[str]) -> None:
    """Forget the requests of an external user whose outcome was one of these executions or documents."""
    rows = IdempotentRequest.objects.filter(external_user_id=external_user_id).values_list("pk", "outcome")
    named = [pk for pk, outcome in rows if not _ids_in(outcome).isdisjoint(ids)]
    IdempotentRequest.objects.filter(pk__in=named).delete()


def _ids_in(outcome: JsonValue) -> set[str]:
    """Return the ids in an outcome: of an execution, or of documents in a list."""
    if isinstance(outcome, list):
        return set().union(*(_ids_in(each) for each in outcome))
    return {outcome} if isinstance(outcome, str) else set()


@app.periodic(cron="17 * * * *")
@app.task(name="delete_idempotency_keys", queueing_lock="delete_idempotency_keys")
def delete_idempotency_keys(timestamp: int) -> None:
    """Delete expired keys."""
    IdempotentRequest.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
