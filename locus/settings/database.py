"""Rows, vectors, word index, job queue and notifications: all PostgreSQL."""

import sys
from typing import Any

from environs import validate
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from locus.settings.environment import env

DATABASE_POOL_SIZE = env.int("DATABASE_POOL_SIZE", 10, validate=validate.Range(min=4))


def _database(url: str) -> dict[str, Any]:
    """Translate a libpq URL into Django's settings with every option libpq knows (`?host=`, `sslmode=`)."""
    options: dict[str, Any] = dict(conninfo_to_dict(url))
    return {
        "ENGINE": "core.database",
        "NAME": options.pop("dbname", "locus"),
        "USER": options.pop("user", ""),
        "PASSWORD": options.pop("password", ""),
        "HOST": options.pop("host", ""),
        "PORT": options.pop("port", ""),
        # A connection returns to the pool as soon as a request or step ends, also while a model streams.
        "CONN_MAX_AGE": 0,
        "OPTIONS": options | {"pool": {"min_size": 1, "max_size": DATABASE_POOL_SIZE}},
    }


# `manage.py` starts the embedded server and sets DATABASE_URL if the operator did not.
DATABASE_URL = env.str("DATABASE_URL", "postgresql://postgres@localhost/locus")
try:
    DATABASES = {"default": _database(DATABASE_URL)}
except ProgrammingError as error:
    sys.exit(f"DATABASE_URL is not a PostgreSQL address: {error}".strip())
