"""Whose rates a request, a run and a drawn page count against.

| rate | counted for | setting |
|---|---|---|
| requests | a person's logins together; each API key | `REQUESTS_PER_MINUTE` |
| runs and searches | a user with all keys; a workspace if it has a quota | `RUNS_PER_MINUTE` |
| drawn pages | a user with all keys | `PAGE_IMAGES_PER_MINUTE` |
| passwords of files | a user with all keys | 20 a minute |

An external user may have at most a share of these (`EXTERNAL_USER_SHARE`), so that one can't use up all.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from accounts.principal import Principal
from accounts.quotas.rates import RateStanding, shared_rates
from core.errors import RateLimited

PASSWORDS_PER_MINUTE = 20
STANDING = "rate_standing"
"""The attribute of a request that holds its `RateStanding`."""


def count_request(request: HttpRequest, principal: Principal) -> None:
    """Count a request to the API; raise `RateLimited` beyond the rate of its key or user."""
    who = f"login {principal.user_id}" if principal.key_id is None else f"key {principal.key_id}"
    standing = _use("requests", who, settings.REQUESTS_PER_MINUTE, principal)
    if standing is not None:
        setattr(request, STANDING, standing)
        _refuse_if_exceeded(standing, "requests")


def count_run(principal: Principal) -> None:
    """Count a run of a tool or a search; raise `RateLimited` beyond the rate of its user."""
    _count("runs", "questions and searches", settings.RUNS_PER_MINUTE, principal)


def count_page_image(principal: Principal) -> None:
    """Count a page that is drawn; raise `RateLimited` beyond the rate of its user."""
    _count("page images", "pages that had to be drawn", settings.PAGE_IMAGES_PER_MINUTE, principal)


def count_password(principal: Principal) -> None:
    """Count an attempt to open a protected file; raise `RateLimited` beyond the rate of its user."""
    _count("passwords", "passwords", PASSWORDS_PER_MINUTE, principal)


def _count(name: str, what: str, limit: int, principal: Principal) -> None:
    standing = _use(name, f"user {principal.user_id}", limit, principal)
    if standing is not None:
        _refuse_if_exceeded(standing, what)


def _use(name: str, who: str, limit: int, principal: Principal) -> RateStanding | None:
    """Return the standing of what is nearest to its limit: the caller, or its external user."""
    if not limit:
        return None
    share = settings.EXTERNAL_USER_SHARE
    if principal.external_user_id is None or share >= 1:
        return shared_rates.use(name, who, limit)
    # First, so that an external user beyond its share takes nothing from the others.
    own = shared_rates.use(name, f"{who} for {principal.external_user_id}", max(1, round(limit * share)))
    if own.is_exceeded:
        return own
    whole = shared_rates.use(name, who, limit)
    return min(own, whole, key=lambda standing: (not standing.is_exceeded, standing.remaining))


def _refuse_if_exceeded(standing: RateStanding, what: str) -> None:
    if standing.is_exceeded:
        raise RateLimited(
            f"Too many {what}: at most {standing.limit} a minute. Wait {standing.retry_secs} s.",
            retry_after=standing.retry_secs,
            limit=standing.limit,
            reset_after=standing.reset_secs,
        )
