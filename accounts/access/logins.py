"""Logins by password: limits on attempts, and on passwords checked at once (ADR 28)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import get_random_string

from accounts.access.throttling import (
    LOGIN_OF_ACCOUNT,
    LOGIN_OF_ADDRESS,
    LOGIN_OF_BROWSER,
    LOGIN_OF_PAIR,
    Bucket,
    give_back,
    network_of,
    take,
)
from core.errors import Overloaded, RateLimited

BROWSER_COOKIE = "locus_browser"
BROWSER_AGE = timedelta(days=365)
# Checking a password takes most of a second of a core. With so many waiting, a further request is refused at
# once: it would wait for longer than people do.
WAITING_OF_ADDRESS = 3
WAITING_IN_ALL = 12

_waiting: Counter[str] = Counter()
_counting = threading.Lock()


@contextmanager
def login_attempt(request: HttpRequest, account: str) -> Iterator[list[bool]]:
    """Count an attempt to log in to an account; the body appends True to the list if the password is right.

    Raises `RateLimited` after too many attempts, `Overloaded` if too many passwords are being checked.
    """
    account = account.strip().lower()
    browser, network = known_browser(request, account), network_of(request)
    buckets = login_buckets(account, network, browser)
    with _limit_waiting(browser or network):
        take(*buckets)
        succeeded: list[bool] = []
        yield succeeded
        if succeeded:
            give_back(*buckets)


def login_buckets(account: str, network: str, browser: str | None) -> Sequence[Bucket]:
    """Return the buckets in which an attempt to log in is counted.

    A browser that has logged in to the account before has a bucket of its own. Attempts of others do not lock
    it out, even from the same address or from everywhere.
    """
    if browser is not None:
        return [Bucket.of(LOGIN_OF_BROWSER, browser, account)]
    return [
        Bucket.of(LOGIN_OF_PAIR, account, network),
        Bucket.of(LOGIN_OF_ADDRESS, network),
        Bucket.of(LOGIN_OF_ACCOUNT, account),
    ]


def remember_browser(response: HttpResponse, account: str) -> None:
    """Set a cookie that proves that this browser has logged in to the account."""
    response.set_cookie(
        BROWSER_COOKIE,
        _signer(account.strip().lower()).sign(get_random_string(22)),
        max_age=BROWSER_AGE,
        path=reverse("account_login"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def known_browser(request: HttpRequest, account: str) -> str | None:
    """Return the id of a browser that has logged in to the account within a year."""
    try:
        return _signer(account).unsign(request.COOKIES.get(BROWSER_COOKIE, ""), max_age=BROWSER_AGE)
    except signing.BadSignature:
        return None


def _signer(account: str) -> signing.TimestampSigner:
    # The account is part of the signature, so the cookie is valid for no other account and names none.
    return signing.TimestampSigner(salt=f"accounts.logins {account}")


@contextmanager
def _limit_waiting(who: str) -> Iterator[None]:
    """Count one more waiting login of an address or known browser; raise `Overloaded` or `RateLimited` for
    too many."""
    with _counting:
        if _waiting[who] >= WAITING_OF_ADDRESS:
            raise RateLimited("Too many attempts at once. Try again in a few seconds.", retry_after=5)
        if _waiting.total() >= WAITING_IN_ALL:
            raise Overloaded("Too many people are logging in. Try again in a few seconds.")
        _waiting[who] += 1
    try:
        yield
    finally:
        with _counting:
            _waiting[who] -= 1
            if not _waiting[who]:
                del _waiting[who]
