"""Rows in PostgreSQL's binary format, because a search reads megabytes of posting lists.

Django requests text, in which one side writes a byte as two hexadecimal digits and the other parses them
(figures: docs/adr/0015-segments.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, cast

import psycopg
from django.conf import settings
from django.db import transaction

from core.database.replicas import read_connection


def fetch_rows(query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
    """Return the rows of a query with `%s` for each parameter; an array is one parameter.

    Runs on Django's connection, or on that of a replica, in its transaction if there is one. Raises Django's
    database errors.
    """
    connection = read_connection()
    # Django's cursor is opened first, because the connection then shows this context's rows only: behind a
    # pooler as long as a transaction lasts.
    is_pooled = bool(settings.DATABASE_DIRECT_URL)
    with (
        transaction.atomic(using=connection.alias) if is_pooled else nullcontext(),
        connection.cursor() as opened,
        connection.wrap_database_errors,
        psycopg.Cursor(opened.connection) as cursor,
    ):
        return cursor.execute(cast("Any", query), parameters, binary=True).fetchall()
