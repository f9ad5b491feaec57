"""The last error of each model and provider that Locus calls, for administrators; kept for a week."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.utils import timezone

from core.threads import in_database_within

KEPT = timedelta(days=7)
LONGEST = 500
# A call does not wait longer for this note.
DATABASE_SECS = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LastError:
    """When a call failed, and why; the message holds no key."""

    at: datetime
    message: str


def note_error(name: str, error: Exception) -> None:
    """Remember an error of what has this name, such as `web_search:brave`; failing to is no failure."""
    try:
        kept = [timezone.now().isoformat(), str(error)[:LONGEST]]
        cache.set(_key(name), kept, KEPT.total_seconds())
    except Exception as problem:  # noqa: BLE001 - the error itself is raised by the caller
        logger.debug("The error of %s is not remembered: %r", name, problem)


async def note_error_async(name: str, error: Exception) -> None:
    """Do the same in an event loop."""
    try:
        await in_database_within(DATABASE_SECS, note_error, name, error)
    except Exception as problem:  # noqa: BLE001 - the same
        logger.debug("The error of %s is not remembered: %r", name, problem)


def last_errors(names: list[str]) -> dict[str, LastError]:
    """Return the last errors by name, of those that had any."""
    kept = cache.get_many([_key(name) for name in names])
    found = {name: kept[_key(name)] for name in names if _key(name) in kept}
    return {name: LastError(datetime.fromisoformat(at), message) for name, (at, message) in found.items()}


def _key(name: str) -> str:
    # Some caches take no spaces and no long keys.
    return f"last_error:{name.replace(' ', '_')[:150]}"
