"""Emptying the test database after tests that commit."""

from __future__ import annotations

from time import sleep

from django.db import DatabaseError, connection, transaction

KEPT = {"django_content_type", "auth_permission"}
"""Servers of other processes remember the ids of these rows, which migrations make."""
# Tables without a model that Django manages.
ALSO = {"procrastinate_jobs", "locus_cache"}
ATTEMPTS = 8
"""A request that is still answered may add a row to one that is being deleted."""
PAUSE_SECS = 0.25
"""A writer that is met once is met again, unless the next attempt waits; longer each time."""


def empty_database() -> None:
    """Delete the rows of every table but `KEPT`, while servers of other processes may read and write.

    Django's own way, TRUNCATE, locks whole tables, and so meets their transactions in deadlocks.
    """
    # Foreign keys are checked at the end of the transaction, so the order is of no importance.
    statement = "; ".join(f"DELETE FROM {name}" for name in _tables())
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '30s'")
                cursor.execute(statement)
        except DatabaseError:
            if attempt == ATTEMPTS:
                raise
            sleep(attempt * PAUSE_SECS)
        else:
            return


def renew_tables() -> None:
    """Empty the same tables and give back their space: thousands of tests leave dead rows, which are read.

    A server that does not end its transaction would make TRUNCATE wait for ever; then the rows alone go.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '5s'")
            cursor.execute(f"TRUNCATE {', '.join(_tables())} CASCADE")
    except DatabaseError:
        empty_database()


def _tables() -> list[str]:
    models = set(connection.introspection.django_table_names(only_existing=True, include_views=False))
    return [connection.ops.quote_name(name) for name in sorted(models - KEPT | ALSO)]
