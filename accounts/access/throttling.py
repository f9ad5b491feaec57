"""Limits on attempts: so many at once, then one per interval; all web processes share the count (ADR 28).

A limit is a leaky bucket kept in one row of PostgreSQL: an attempt fills it, time drains it. Taking is one
statement, so that two simultaneous attempts can't share a place. Refused attempts do not fill it, so
continuing to try locks nobody out for longer.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django.db import connection
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

from accounts.models import AttemptBucket
from core.errors import RateLimited
from core.http.client_address import client_address, client_network
from core.http.error_pages import page_of

SWEEP_SHARE = 0.01
"""The share of attempts that also delete empty buckets."""

TAKE = """
INSERT INTO accounts_attemptbucket AS bucket (key, empty_at)
VALUES (%(key)s, clock_timestamp() + make_interval(secs => %(every)s))
ON CONFLICT (key) DO UPDATE
SET empty_at = greatest(bucket.empty_at, clock_timestamp()) + make_interval(secs => %(every)s)
WHERE greatest(bucket.empty_at, clock_timestamp()) + make_interval(secs => %(every)s)
      <= clock_timestamp() + make_interval(secs => %(every)s * %(burst)s)
RETURNING true
"""
WAIT = """
SELECT extract(epoch FROM empty_at - clock_timestamp())
FROM accounts_attemptbucket WHERE key = %s
"""
GIVE_BACK = """
UPDATE accounts_attemptbucket SET empty_at = empty_at - make_interval(secs => %s) WHERE key = %s
"""


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """`burst` attempts at once, and one more every `every_secs`."""

    name: str
    burst: int
    every_secs: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """What a limit counts: the attempts of one address, on one account, or of one address on one account."""

    limit: AttemptLimit
    key: str

    @classmethod
    def of(cls, limit: AttemptLimit, *who: str) -> Bucket:
        """Return the bucket of a limit for these parts; its key does not reveal them."""
        value = "\0".join((limit.name, *who))
        return cls(limit, salted_hmac("accounts.throttling", value, algorithm="sha256").hexdigest())


# A person who mistypes has five attempts; a program has one a minute.
LOGIN_OF_PAIR = AttemptLimit("login of an account from an address", 5, 60)
# The same for a browser that has logged in to the account before, whatever others do.
LOGIN_OF_BROWSER = AttemptLimit("login of an account from a known browser", 5, 60)
# One address that tries many accounts, or many people at one address.
LOGIN_OF_ADDRESS = AttemptLimit("login from an address", 60, 3)
# Many addresses that try one account: never closed, but limited to 100 an hour.
LOGIN_OF_ACCOUNT = AttemptLimit("login of an account", 100, 36)
SIGN_UP = AttemptLimit("sign-up from an address", 10, 60)
RESET_OF_ADDRESS = AttemptLimit("password reset from an address", 10, 60)
RESET_OF_ACCOUNT = AttemptLimit("password reset of an account", 3, 600)
CHANGE_PASSWORD = AttemptLimit("change of a user's password", 5, 60)
# Who gets here knows the password. A code is one of a million, and three of them are right.
SECOND_FACTOR = AttemptLimit("second factor of a user", 5, 300)
# Each begins a session, also without a login.
PASSKEY_LOGIN = AttemptLimit("login with a passkey from an address", 60, 1)
OIDC_LOGIN = AttemptLimit("login by a provider from an address", 60, 1)
CHANGE_ADDRESS = AttemptLimit("change of a user's address", 5, 300)
EXPORT_DATA = AttemptLimit("export of a user's data", 5, 600)
UNKNOWN_INVITATIONS = AttemptLimit("unknown invitations from an address", 20, 30)
INVITATION_MAILS = AttemptLimit("mailed invitations of a user", 30, 120)
PROGRAM_REGISTRATION = AttemptLimit("registration of programs from an address", 20, 30)
PROGRAM_TOKENS = AttemptLimit("tokens of programs from an address", 120, 1)
UNKNOWN_KEYS = AttemptLimit("unknown API keys from an address", 60, 1)


def take(*buckets: Bucket) -> None:
    """Count one attempt in all the buckets, or raise `RateLimited` and change none of them."""
    _sweep_now_and_then()
    for index, bucket in enumerate(buckets):
        if not _take_one(bucket):
            give_back(*buckets[:index])
            wait = _wait_of(bucket)
            raise RateLimited(f"Too many attempts. Try again in {_in_words(wait)}.", retry_after=wait)


def give_back(*buckets: Bucket) -> None:
    """Uncount an attempt: a successful one does not count."""
    with connection.cursor() as cursor:
        for bucket in buckets:
            cursor.execute(GIVE_BACK, [bucket.limit.every_secs, bucket.key])


def network_of(request: HttpRequest) -> str:
    """Return the address, or the network of addresses, under which a request is counted."""
    return client_network(client_address(request))


def limit_attempts(
    *limits: AttemptLimit,
    of: Callable[[HttpRequest], str] = network_of,
    methods: frozenset[str] = frozenset({"POST"}),
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Limit how often the same address, or the value of `of`, may send a view's form or other `methods`."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def limited(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if request.method in methods:
                try:
                    take(*(Bucket.of(limit, of(request)) for limit in limits))
                except RateLimited as error:
                    return page_of(request, error)
            return view(request, *args, **kwargs)

        return limited

    return decorate


def _take_one(bucket: Bucket) -> bool:
    limit = bucket.limit
    with connection.cursor() as cursor:
        cursor.execute(TAKE, {"key": bucket.key, "every": limit.every_secs, "burst": limit.burst})
        return cursor.fetchone() is not None


def _wait_of(bucket: Bucket) -> int:
    """Return the seconds until the bucket has room for one more attempt, at least 1."""
    limit = bucket.limit
    with connection.cursor() as cursor:
        cursor.execute(WAIT, [bucket.key])
        row = cursor.fetchone()
    secs = float(row[0]) - limit.every_secs * (limit.burst - 1) if row else 0
    return max(1, math.ceil(secs))


def _in_words(secs: int) -> str:
    if secs < 60:
        return "a second" if secs == 1 else f"{secs} seconds"
    minutes = math.ceil(secs / 60)
    return "a minute" if minutes == 1 else f"{minutes} minutes"


def _sweep_now_and_then() -> None:
    if random.random() < SWEEP_SHARE:  # noqa: S311
        AttemptBucket.sweep()
