"""Rows in PostgreSQL's binary format, for a search waits for megabytes of posting lists.

Django asks for text, in which a byte is two hexadecimal digits that one side writes and the other reads
(figures: docs/adr/0015-segments.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import psycopg
from django.db import connection


def fetched(query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return the rows of a query with `%s` for each parameter; an array is one parameter.

    Runs on Django's connection, in its transaction if there is one. Raise Django's database errors.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(cast("Any", query), parameters, binary=True).fetchall()
