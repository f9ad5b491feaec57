"""Failures of PostgreSQL and Redis that pass by themselves: the caller is told to try again."""

from __future__ import annotations

import logging

import psycopg
from django.db import InterfaceError, OperationalError
from redis import exceptions as redis

from core.errors import LocusError, ServiceUnavailable, Timeout

logger = logging.getLogger(__name__)
OF_DATABASE = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
"""Connections that can't be made or are lost, a server that starts, stops or is full, locks not given."""
OF_CACHE = (redis.ConnectionError, redis.TimeoutError)


def as_unavailable(exception: BaseException | None) -> LocusError | None:
    """Return what to tell the caller when a service failed for now, and log why; None for other failures."""
    if not isinstance(exception, OF_DATABASE + OF_CACHE):
        return None
    # The first line only: further ones may show a row.
    reason = str(exception).partition("\n")[0]
    logger.warning("A service failed, the request is refused: %s: %s", type(exception).__name__, reason)
    is_too_slow = isinstance(exception.__cause__ or exception, psycopg.errors.QueryCanceled)
    return Timeout() if is_too_slow else ServiceUnavailable()
