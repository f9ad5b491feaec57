"""Rows in PostgreSQL's binary format, because a search reads megabytes of posting lists.

Django requests text, in which one side writes a byte as two hexadecimal digits and the other parses them
(figures: docs/adr/0015-segments.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import psycopg
from django.db import connection


def fetch_rows(query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return the rows of a query with `%s` for each parameter; an array is one parameter.

    Runs on Django's connection, in its transaction if there is one. Raises Django's database errors.
    """
    # Django's cursor is opened first, because the connection then shows this context's rows only.
    with (
        connection.cursor() as opened,
        connection.wrap_database_errors,
        psycopg.Cursor(opened.connection) as cursor,
    ):
        return cursor.execute(cast("Any", query), parameters, binary=True).fetchall()
