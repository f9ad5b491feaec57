"""What was found lately, so that the same question is not paid for twice (contract §6, ADR 22).

The key is made of the first provider that could be asked, not of the one that answered: what was found after
falling through is there for the next who asks the same way. The cache is a convenience: if it fails, the
search goes on as if it were empty.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error as AnyDatabaseError
from django.db import transaction
from django.utils import timezone
from procrastinate.contrib.django import app
from pydantic import TypeAdapter

from core.threads import in_database_within
from search.models import CachedSearch
from search.web.base import SearchHits, WebQuery

# To be raised when queries or what is found take another shape.
SCHEMA_VERSION = 2
# A database that hangs is no reason to wait: asking the web takes about as long.
LONGEST_WAIT_SECS = 1.0

Clock = Callable[[], datetime]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found, and which provider it was."""

    provider: str
    found: SearchHits


_QUERY = TypeAdapter(WebQuery)
_ANSWER = TypeAdapter(Answer)
# A value that is no answer, or that PostgreSQL can't hold, is a `ValueError`.
_FAULTS = (AnyDatabaseError, ValueError)
_UNORDERED = ("allow", "deny", "prefer")


def key_of(first: str, query: WebQuery, workspace_id: UUID, external_user_id: str | None = None) -> str:
    """Return the key of a search whose first candidate is the provider `first`.

    sha256 over schema version, provider, query and parameters, and over the workspace and its external user
    unless `WEB_CACHE_SHARED`.
    """
    parameters = _QUERY.dump_python(query, mode="json")
    text = parameters.pop("text")
    for name in _UNORDERED:
        parameters[name] = _canonical(parameters[name])
    parts = [SCHEMA_VERSION, first, text, parameters]
    if not settings.WEB_CACHE_SHARED:
        parts += [str(workspace_id), external_user_id]
    whole = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode()).hexdigest()


def _canonical(rules: list[Any]) -> list[str]:
    """Return rules, or lists of them, in one order and each once: what a list means depends on neither."""
    parts = [_canonical(rule) if isinstance(rule, list) else rule for rule in rules]
    return sorted({json.dumps(part, sort_keys=True) for part in parts})


async def look_up(key: str, *, only: str | None = None, clock: Clock = timezone.now) -> Answer | None:
    """Return what is kept under the key; if `only`, where named, is who said it."""
    try:
        answer = await in_database_within(LONGEST_WAIT_SECS, _read, key, clock())
    except _FAULTS as error:
        logger.warning("The cache of web searches can't be read: %r", error)
        return None
    return answer if answer and only in (None, answer.provider) else None


def is_kept(key: str, *, only: str | None = None, clock: Clock = timezone.now) -> bool:
    """Tell whether `look_up` would find something. For threads that hold a connection: it is used.

    Where each of many holds one and waits for somebody else's, all wait.
    """
    try:
        with transaction.atomic():
            answer = _read(key, clock())
    except _FAULTS as error:
        logger.warning("The cache of web searches can't be read: %r", error)
        return False
    return answer is not None and only in (None, answer.provider)


async def keep(key: str, answer: Answer, ttl_secs: int, *, clock: Clock = timezone.now) -> None:
    """Keep an answer for some seconds; 0 keeps nothing."""
    if ttl_secs <= 0:
        return
    try:
        expires_at = clock() + timedelta(seconds=ttl_secs)
        await in_database_within(LONGEST_WAIT_SECS, _write, key, answer, expires_at)
    except _FAULTS as error:
        logger.warning("The cache of web searches can't be written: %r", error)


def _read(key: str, now: datetime) -> Answer | None:
    kept = CachedSearch.objects.filter(pk=key, expires_at__gt=now).values_list("value", flat=True).first()
    return None if kept is None else _ANSWER.validate_python(kept)


def _write(key: str, answer: Answer, expires_at: datetime) -> None:
    row = CachedSearch(key=key, value=_ANSWER.dump_python(answer, mode="json"), expires_at=expires_at)
    CachedSearch.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["key"], update_fields=["value", "expires_at"]
    )


@app.periodic(cron="*/10 * * * *")
@app.task(name="delete_expired_searches", queueing_lock="delete_expired_searches")
def delete_expired(timestamp: int) -> None:
    """Delete what is no longer found."""
    CachedSearch.objects.filter(expires_at__lte=timezone.now()).delete()
