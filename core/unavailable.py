"""Failures of PostgreSQL and Redis that pass by themselves: the caller is told to try again."""

from __future__ import annotations

import logging

import psycopg
from django.db import InterfaceError, OperationalError
from procrastinate.exceptions import ConnectorException
from redis import exceptions as redis

from core.errors import LocusError, ServiceUnavailable, Timeout

logger = logging.getLogger(__name__)
PASSING = (
    *(OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError),
    *(redis.ConnectionError, redis.TimeoutError),
)
"""Connections that can't be made or are lost, a server that starts, stops or is full, locks not given."""


def refusal_for(failure: BaseException) -> LocusError:
    """Return what to tell the caller of one of the failures that pass, and log why."""
    # The first line only: further ones may show a row.
    reason = str(failure).partition("\n")[0]
    logger.warning("A service failed, the request is refused: %s: %s", type(failure).__name__, reason)
    is_too_slow = isinstance(failure.__cause__ or failure, psycopg.errors.QueryCanceled)
    return Timeout() if is_too_slow else ServiceUnavailable()


def as_unavailable(exception: BaseException | None) -> LocusError | None:
    """Return what to tell the caller if the failure is one that passes; None for others."""
    # Where a job is queued, Procrastinate wraps what the database says.
    failure = exception.__cause__ if isinstance(exception, ConnectorException) else exception
    return refusal_for(failure) if isinstance(failure, PASSING) else None
