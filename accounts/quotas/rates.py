"""Rates that all processes keep together: so many per minute (ADR 40).

A rate is a leaky bucket in one row of PostgreSQL: use fills it, time empties it at a steady pace. A minute's
worth fits at once. A process does not ask the database at every request: it takes several uses at once (a
lease), uses them within a second, and gives back the rest with its next lease. Uses are taken before they are
used. So processes together never use more than the rate; for up to a second, leases that are not used up may
refuse somebody a little early.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.utils.crypto import salted_hmac

MINUTE = 60.0
LEASE_SECS = 1.0
LEASE_SHARE = 60
"""A lease is at most the sixtieth part of a rate: what it allows for a second."""
MOST_BUCKETS = 10_000
"""Buckets whose lease a process remembers."""

# All expressions see the row as it was. `given_back` is the rest of this process's last lease.
BASE = "greatest(bucket.empty_at - make_interval(secs => %(every)s * %(given_back)s), statement_timestamp())"
FREE = f"%(burst)s - extract(epoch FROM {BASE} - statement_timestamp()) / %(every)s"
# A little more, because times are rounded to microseconds.
GRANTED = f"greatest(0, least(%(wanted)s, floor({FREE} + 0.001)))::int"
TAKE = f"""
    INSERT INTO accounts_ratebucket AS bucket (key, empty_at, granted)
    VALUES (%(key)s, statement_timestamp() + make_interval(secs => %(every)s * %(wanted)s), %(wanted)s)
    ON CONFLICT (key) DO UPDATE SET
        empty_at = {BASE} + make_interval(secs => %(every)s * {GRANTED}), granted = {GRANTED}
    RETURNING granted, extract(epoch FROM empty_at - statement_timestamp())
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class RateStanding:
    """How much of a rate is left, as the `RateLimit-*` headers say."""

    limit: int
    """Uses per minute."""
    remaining: int
    reset_secs: int
    """Until the whole limit is free again."""
    retry_secs: int = 0
    """Until one use is free, if there is none."""

    @property
    def is_exceeded(self) -> bool:
        """Whether this use was refused."""
        return self.retry_secs > 0

    @property
    def headers(self) -> dict[str, str]:
        """The `RateLimit-*` headers (contract §3)."""
        numbers = {"Limit": self.limit, "Remaining": self.remaining, "Reset": self.reset_secs}
        return {f"RateLimit-{name}": str(number) for name, number in numbers.items()}


@dataclass(slots=True)
class _Lease:
    """What a process has taken from a bucket, and not used yet."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    size: int = 0
    left: int = 0
    until: float = 0.0
    """When the lease ends, in the process's monotonic time."""
    full_secs: float = 0.0
    """How long the bucket takes to empty, at the time of the lease."""
    taken_at: float = 0.0
    refused_until: float = 0.0


class SharedRates:
    """The leases of one process."""

    def __init__(self) -> None:
        self._leases: dict[Hashable, _Lease] = {}
        self._lock = threading.Lock()

    def use(self, name: str, who: str, limit: int) -> RateStanding:
        """Count one use of the rate `name` by `who`, at most `limit` per minute; return what is left."""
        lease = self._lease((name, who, limit))
        # First: those who wait for the lock may hold all connections, while its holder waits for one.
        connection.ensure_connection()
        with lease.lock:
            now = time.monotonic()
            if lease.left and now < lease.until:
                lease.left -= 1
            elif now < lease.refused_until:
                return self._standing(lease, limit, now)
            else:
                self._renew(lease, name, who, limit)
                now = time.monotonic()
                if now < lease.refused_until:
                    return self._standing(lease, limit, now)
                lease.left -= 1
            return self._standing(lease, limit, now)

    def forget(self) -> None:
        """Forget all leases, as a new process has none."""
        with self._lock:
            self._leases.clear()

    def _lease(self, key: Hashable) -> _Lease:
        with self._lock:
            if len(self._leases) >= MOST_BUCKETS and key not in self._leases:
                now = time.monotonic()
                # What an ended lease has left would be given back late; it empties by itself.
                self._leases = {k: lease for k, lease in self._leases.items() if lease.until > now}
            return self._leases.setdefault(key, _Lease())

    def _renew(self, lease: _Lease, name: str, who: str, limit: int) -> None:
        """Take a lease: as much as was used of the last, twice that if it was used up, 1 after a pause."""
        used, largest = lease.size - lease.left, max(1, limit // LEASE_SHARE)
        if time.monotonic() > lease.until + LEASE_SECS:
            used = 0
        wanted = max(1, min(used if lease.left else 2 * used, largest))
        every = MINUTE / limit
        granted, full_secs = _take(name, who, limit, wanted, lease.left)
        now = time.monotonic()
        lease.size = lease.left = granted
        lease.full_secs, lease.taken_at, lease.until = full_secs, now, now + LEASE_SECS
        lease.refused_until = 0.0
        if not granted:
            lease.refused_until = now + max(full_secs - every * (limit - 1), 0.001)

    @staticmethod
    def _standing(lease: _Lease, limit: int, now: float) -> RateStanding:
        every = MINUTE / limit
        full_secs = max(0.0, lease.full_secs - (now - lease.taken_at))
        free = int(limit - full_secs / every + 1e-6) + lease.left
        retry = max(1, math.ceil(lease.refused_until - now)) if now < lease.refused_until else 0
        remaining = 0 if retry else max(0, min(limit, free))
        return RateStanding(limit, remaining, math.ceil(full_secs), retry)


def _take(name: str, who: str, limit: int, wanted: int, given_back: int) -> tuple[int, float]:
    """Take up to `wanted` uses; return how many there were, and how long the bucket now takes to empty."""
    values: dict[str, Any] = {
        "key": salted_hmac(
            "accounts.quotas.rates", f"{name}\0{limit}\0{who}", algorithm="sha256"
        ).hexdigest(),
        "every": MINUTE / limit,
        "burst": limit,
        "wanted": wanted,
        "given_back": given_back,
    }
    with connection.cursor() as cursor:
        cursor.execute(TAKE, values)
        granted, full_secs = cursor.fetchone() or (0, 0)
    return int(granted), float(full_secs)


shared_rates = SharedRates()
