"""What was found lately, so that the same question is not paid for twice (contract §6, ADR 22 and 35).

The key is made of the first provider that could be asked, not of the one that answered: what was found after
falling through is there for the next who asks the same way. The cache is a convenience: if it fails or is
slow, the search goes on as if it were empty.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.cache import cache, caches
from django.core.cache.backends.db import DatabaseCache
from django.db import transaction
from pydantic import TypeAdapter

from core.threads import in_database_within
from search.web.base import SearchHits, WebQuery

# To be raised when queries or what is found take another shape.
SCHEMA_VERSION = 2
# A cache that hangs is no reason to wait: asking the web takes about as long.
LONGEST_WAIT_SECS = 1.0

P = ParamSpec("P")
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found, and which provider it was."""

    provider: str
    found: SearchHits


_QUERY = TypeAdapter(WebQuery)
_ANSWER = TypeAdapter(Answer)
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


async def look_up(key: str, *, only: str | None = None) -> Answer | None:
    """Return what is kept under the key; if `only`, where named, is who said it."""
    try:
        answer = await _within(LONGEST_WAIT_SECS, _read, key)
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        logger.warning("The cache of web searches can't be read: %r", error)
        return None
    return answer if answer and only in (None, answer.provider) else None


def is_kept(key: str, *, only: str | None = None) -> bool:
    """Tell whether `look_up` would find something. For threads that hold a connection: it is used.

    Where each of many holds one and waits for somebody else's, all wait.
    """
    try:
        with transaction.atomic():
            answer = _read(key)
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        logger.warning("The cache of web searches can't be read: %r", error)
        return False
    return answer is not None and only in (None, answer.provider)


async def keep(key: str, answer: Answer, ttl_secs: int) -> None:
    """Keep an answer for some seconds; 0 keeps nothing."""
    if ttl_secs <= 0:
        return
    try:
        await _within(LONGEST_WAIT_SECS, _write, key, answer, ttl_secs)
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        logger.warning("The cache of web searches can't be written: %r", error)


def _read(key: str) -> Answer | None:
    kept = cache.get(key)
    return None if kept is None else _ANSWER.validate_json(kept)


def _write(key: str, answer: Answer, ttl_secs: int) -> None:
    # Text that we parse ourselves: no class of ours is pickled, whatever the backend does with values.
    cache.set(key, _ANSWER.dump_json(answer).decode(), ttl_secs)


async def _within(secs: float, function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Return what a function of the cache returns; raise an error if the backend takes longer."""
    if isinstance(caches["default"], DatabaseCache):
        # The database gives up by itself, and leaves no thread hanging.
        return await in_database_within(secs, function, *args, **kwargs)
    async with asyncio.timeout(secs):
        return await asyncio.to_thread(function, *args, **kwargs)
