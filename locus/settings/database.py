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
# Set where DATABASE_URL is a pooler in transaction mode: the server itself, for what listens.
DATABASE_DIRECT_URL = env.str("DATABASE_DIRECT_URL", "")
# Separated by spaces, because an address may have commas.
DATABASE_REPLICA_URLS: list[str] = env.str("DATABASE_REPLICA_URLS", "").split()
REPLICA_MAX_LAG_SECS = env.float("REPLICA_MAX_LAG_SECS", 5.0, validate=validate.Range(min=0, max=3600))
DATABASE_ROUTERS = ["core.database.replicas.ReadRouter"] if DATABASE_REPLICA_URLS else []
_NAMES = {
    DATABASE_URL: "DATABASE_URL",
    DATABASE_DIRECT_URL: "DATABASE_DIRECT_URL",
    **dict.fromkeys(DATABASE_REPLICA_URLS, "DATABASE_REPLICA_URLS"),
}
for _url, _name in _NAMES.items():
    try:
        conninfo_to_dict(_url)
    except ProgrammingError as error:
        sys.exit(f"{_name} is not a PostgreSQL address: {error}".strip())
DATABASES = {"default": _database(DATABASE_URL)} | {
    f"replica_{number}": _database(url) for number, url in enumerate(DATABASE_REPLICA_URLS)
}
for _number in range(len(DATABASE_REPLICA_URLS)):
    # Who waits longer for a replica asks the primary server.
    DATABASES[f"replica_{_number}"]["OPTIONS"]["pool"] |= {"min_size": 0, "timeout": 2.0}
if DATABASE_DIRECT_URL:
    # The pooler gives each transaction another connection, which knows no statement or cursor of this one.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
    DATABASES["default"]["OPTIONS"]["prepare_threshold"] = None
