"""A circuit breaker for each web provider; all processes share its state (contract §6, ADR 22).

    closed ── 5 failures in a row ──▶ open for 10 s, 20 s, … 120 s ──▶ half-open: one probe at a time
       ▲                               ▲                                  │        │
       └──────── 2 successes ──────────┼──────────────────────────────────┘        │
                                       └──────────────── a failure ────────────────┘

A closed breaker without failures has no row: what goes well is read once and writes nothing. A refused key
keeps it open until the configuration changes. If the database fails, the search goes on unguarded.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

from django.conf import settings
from django.db import Error as AnyDatabaseError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core.threads import in_database_within
from search.models import Breaker
from search.web.base import Outcome, ProviderFailed

FAILURES = 5
SUCCESSES = 2
FIRST_OPEN_SECS = 10.0
LONGEST_OPEN_SECS = 120.0
# What passes neither soon nor by asking again: providers.md §6 and §9.
CHALLENGED_SECS = QUOTA_SECS = 3600.0
# A longer delay that a provider asks for is not respected.
LONGEST_WAIT_SECS = 86_400.0
# Longer than any call takes: a probe without a result by then has died with its process.
PROBE_SECS = 60.0
# A search does not wait for a hanging database: it goes on without the breaker.
DATABASE_SECS = 1.0

Clock = Callable[[], datetime]
logger = logging.getLogger(__name__)


class State(IntEnum):
    """What a breaker lets through; the values are those of the metric."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


class BreakerOpen(ProviderFailed):
    """The provider was not called, because it has failed too often; `retry_after` is in seconds."""

    def __init__(self, provider: str, retry_after: float | None) -> None:
        super().__init__(
            Outcome.UNAVAILABLE,
            f"{provider} has failed repeatedly and is not asked at the moment.",
            counts=False,
            retry_after=retry_after,
        )


@dataclass(frozen=True, slots=True)
class _Permit:
    """How a call was allowed, and what its success must reset."""

    probe: datetime | None = None
    """The lease of a probe, by which it is known."""
    after_failures: bool = False


class ProviderBreaker:
    """The breaker of one provider. Cheap to make; has no state of its own."""

    def __init__(self, provider: str, *, clock: Clock = timezone.now) -> None:
        self.provider = provider
        self.name = name_of(provider)
        self._clock = clock

    @asynccontextmanager
    async def guarding(self) -> AsyncIterator[None]:
        """Allow one call and record its outcome, or raise `BreakerOpen`.

        A `ProviderFailed` is a failure if it counts. Any other exception, including a cancellation, says
        nothing.
        """
        permit = await self._enter()
        try:
            yield
        except ProviderFailed as failure:
            await self._note(self._failed, permit, failure)
            raise
        except BaseException:
            if permit and permit.probe:
                await self._note(self._released, permit)
            raise
        if permit and (permit.probe or permit.after_failures):
            await self._note(self._succeeded, permit)

    # --- Before the call -----------------------------------------------------------------------------------

    async def _enter(self) -> _Permit | None:
        try:
            return await in_database_within(DATABASE_SECS, self._permit)
        except AnyDatabaseError as error:
            logger.warning("The breaker %s can't be read, the search goes on: %r", self.name, error)
            return None

    def _permit(self) -> _Permit:
        row = Breaker.objects.filter(pk=self.name).first()
        now = self._clock()
        if row is None:
            return _Permit()
        match state_of(row, now):
            case State.CLOSED:
                return _Permit(after_failures=True)
            case State.HALF_OPEN:
                return self._probe(now)
            case State.OPEN:
                wait = (row.open_until - now).total_seconds() if row.open_until else 0.0
                raise BreakerOpen(self.provider, wait if wait > 0 else None)

    def _probe(self, now: datetime) -> _Permit:
        """Take the lease of the probe, which only one of many processes gets."""
        lease = now + timedelta(seconds=PROBE_SECS)
        is_free = Q(probe_until=None) | Q(probe_until__lte=now)
        is_due = Q(open_until=None) | Q(open_until__lte=now)
        half_open = Breaker.objects.filter(is_free, is_due, pk=self.name, is_tripped=True)
        if not half_open.update(probe_until=lease):
            raise BreakerOpen(self.provider, None)
        return _Permit(probe=lease)

    # --- After the call ------------------------------------------------------------------------------------

    async def _note(self, noting: Callable[..., None], permit: _Permit | None, *arguments: object) -> None:
        if permit is None:
            return
        try:
            await in_database_within(DATABASE_SECS, noting, permit, *arguments)
        except AnyDatabaseError as error:
            logger.warning("The breaker %s can't be written: %r", self.name, error)

    @transaction.atomic
    def _succeeded(self, permit: _Permit) -> None:
        if permit.after_failures:
            Breaker.objects.filter(pk=self.name, is_tripped=False).delete()
        elif permit.probe:
            row = self._probing(permit.probe)
            if row is None:
                return
            row.successes += 1
            row.probe_until = None
            if row.successes >= SUCCESSES:
                row.delete()
            else:
                row.save()

    @transaction.atomic
    def _failed(self, permit: _Permit, failure: ProviderFailed) -> None:
        opens_at_once = failure.outcome in (Outcome.AUTH, Outcome.QUOTA, Outcome.BOT_CHALLENGE)
        if not (failure.counts or opens_at_once):
            self._released(permit)
            return
        if permit.probe is None:
            Breaker.objects.get_or_create(pk=self.name)
            row = Breaker.objects.select_for_update().filter(pk=self.name).first()
        else:
            row = self._probing(permit.probe)
        # A call that began before the breaker opened, or before another probe, is out of date.
        if row is None or (row.is_tripped and permit.probe is None and not opens_at_once):
            return
        _count(row, failure, self._clock(), self.provider)
        row.save()

    def _released(self, permit: _Permit) -> None:
        """Release the probe for the next caller."""
        if permit.probe:
            Breaker.objects.filter(pk=self.name, probe_until=permit.probe).update(probe_until=None)

    def _probing(self, lease: datetime) -> Breaker | None:
        return Breaker.objects.select_for_update().filter(pk=self.name, probe_until=lease).first()


def _count(row: Breaker, failure: ProviderFailed, now: datetime, provider: str) -> None:
    """Write into the row what a failure means."""
    was_tripped = row.is_tripped
    row.failures += 1
    row.successes, row.probe_until = 0, None
    wait = max(0.0, min(failure.retry_after or 0.0, LONGEST_WAIT_SECS))
    if failure.outcome is Outcome.AUTH:
        row.is_tripped, row.refused = True, configuration_of(provider)
    elif failure.outcome in (Outcome.QUOTA, Outcome.BOT_CHALLENGE):
        row.is_tripped = True
        wait = max(wait, QUOTA_SECS if failure.outcome is Outcome.QUOTA else CHALLENGED_SECS)
    elif was_tripped or row.failures >= FAILURES:
        row.is_tripped = True
        wait = max(wait, min(FIRST_OPEN_SECS * 2.0 ** min(row.openings, 10), LONGEST_OPEN_SECS))
        row.openings += 1
    until = now + timedelta(seconds=wait)
    row.open_until = max(until, row.open_until or until) if wait else row.open_until


# --- Reading the state -----------------------------------------------------------------------------------


def name_of(provider: str) -> str:
    """Return what the breaker of a provider is called."""
    return f"web_search:{provider}"


def state_of(row: Breaker, now: datetime) -> State:
    """Return what a breaker lets through at a moment."""
    if row.refused and row.refused == configuration_of(row.name.partition(":")[2]):
        return State.OPEN
    if row.open_until is not None and row.open_until > now:
        return State.OPEN
    return State.HALF_OPEN if row.is_tripped else State.CLOSED


def states(now: datetime) -> dict[str, State]:
    """Return the state of every breaker that is in trouble, by its name; the others are closed."""
    return {row.name: state_of(row, now) for row in Breaker.objects.order_by("name")}


def configuration_of(provider: str) -> str:
    """Return a keyed digest of all settings that begin with the provider's name: its key and address."""
    prefix = f"{provider.upper()}_"
    values = [
        f"{name}={getattr(settings, name)}" for name in sorted(dir(settings)) if name.startswith(prefix)
    ]
    secret = str(settings.SECRET_KEY).encode()
    return hmac.new(secret, "\0".join(values).encode(), hashlib.sha256).hexdigest()
