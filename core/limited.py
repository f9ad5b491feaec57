"""A time limit for each statement of a block, so that no page waits for a large table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def limited_statements(secs: float) -> Iterator[None]:
    """Run the block as a transaction whose statements may take `secs` each.

    The database cancels a longer one, which raises `django.db.OperationalError`.
    """
    milliseconds = str(max(1, int(1000 * secs)))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('statement_timeout')")
        [before] = cursor.fetchone() or [""]
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [milliseconds])
        yield
        # In an outer transaction the limit would go on; an error rolls it back.
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [before])
