"""The database of a backup: a snapshot that dump and list of files share, and the way back."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kb.models import Document
from locus.backup.layout import BackupError
from locus.serve.postgres import EmbeddedServerError, programs
from runs.models import WorkspaceTransfer

# Extensions and schema belong to a superuser. They are there before a restore.
LEFT_OUT = (" EXTENSION ", " SCHEMA ", " COMMENT - EXTENSION ", " COMMENT - SCHEMA ")
# Everything of ours in the schema, with the kind by which it is dropped; not what an extension brought.
OURS = """
    WITH ours (kind, name) AS (
        SELECT
            CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END,
            oid::regclass::text, oid, 'pg_class'::regclass
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'S', 'c')
        UNION ALL SELECT 'ROUTINE', oid::regprocedure::text, oid, 'pg_proc'::regclass
        FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
        UNION ALL SELECT 'TYPE', oid::regtype::text, oid, 'pg_type'::regclass
        FROM pg_type WHERE typnamespace = current_schema()::regnamespace AND typtype IN ('e', 'd')
    )
    SELECT kind, name FROM ours AS o (kind, name, id, class)
    WHERE NOT EXISTS (
        -- A part of an extension, or a sequence that goes with its table.
        SELECT FROM pg_depend WHERE classid = class AND objid = id
            AND (deptype = 'e' OR deptype IN ('a', 'i') AND kind = 'SEQUENCE')
    )
"""
FILES = sql.SQL(
    "SELECT {file}, sha256, size FROM {documents} WHERE {file} <> '' "
    "UNION ALL SELECT {file}, '', 0 FROM {transfers} WHERE {file} <> ''"
).format(
    file=sql.Identifier("file"),
    documents=sql.Identifier(Document._meta.db_table),
    transfers=sql.Identifier(WorkspaceTransfer._meta.db_table),
)
FETCHED_AT_ONCE = 2000
CLOSING_SECS = 5
KNOWS_TRANSACTION_TIMEOUT = 170000

Row = tuple[str, str, int]


class Snapshot:
    """The database as it was at one moment, for as long as the block of `take_snapshot` lasts."""

    def __init__(self, pg: psycopg.Connection, name: str) -> None:
        self._pg, self._name = pg, name

    def files(self) -> Iterator[Row]:
        """Yield the name of each file, with the digest and bytes that its row knows, or "" and 0."""
        with self._pg.cursor(name="files") as cursor:
            cursor.itersize = FETCHED_AT_ONCE
            cursor.execute(FILES)
            yield from cursor

    def migrations(self) -> list[str]:
        """Return the applied migrations, as `app.name`."""
        rows = self._pg.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1").fetchall()
        return [str(row[0]) for row in rows]

    def dump(self, path: Path) -> None:
        """Write the database into a file; raise `BackupError`."""
        options = ["--format=custom", f"--snapshot={self._name}", "--no-owner", "--no-privileges"]
        _run(self._pg, "pg_dump", *options, f"--file={path}", f"--dbname={_address()}")


@contextmanager
def take_snapshot() -> Iterator[Snapshot]:
    """Hold the database's present state."""
    with psycopg.connect(_conninfo()) as pg:
        pg.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        row = pg.execute("SELECT pg_export_snapshot()").fetchone()
        assert row
        yield Snapshot(pg, str(row[0]))


def names_now(names: list[str]) -> set[str]:
    """Return which of these names of files some row has at present."""
    query = sql.SQL("SELECT file FROM ({files}) AS rows (file, sha256, size) WHERE file = ANY (%s)")
    with psycopg.connect(_conninfo()) as pg:
        return {str(row[0]) for row in pg.execute(query.format(files=FILES), [names])}


def count_users() -> int:
    """Return how many accounts the database has; 0 if there are no tables."""
    with psycopg.connect(_conninfo()) as pg:
        there = pg.execute("SELECT to_regclass('accounts_user')").fetchone()
        found = pg.execute("SELECT count(*) FROM accounts_user").fetchone() if there and there[0] else None
    return int(found[0]) if found else 0


def refuse_others() -> None:
    """Raise `BackupError` while another process uses the database.

    A connection that was closed, our own too, can be seen until its process in the server has ended.
    """
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    connection.close()
    _close_pool()
    until = time.monotonic() + CLOSING_SECS
    with psycopg.connect(_conninfo(), autocommit=True) as pg:
        while (row := pg.execute(others).fetchone()) and row[0]:
            if time.monotonic() > until:
                raise BackupError(f"{row[0]} other connections use the database: stop Locus first.")
            time.sleep(0.1)


def restore_dump(path: Path) -> None:
    """Replace all that is in the database by a dump, in one transaction; raise `BackupError`."""
    _close_pool()
    with psycopg.connect(_conninfo()) as pg:
        listed = _run(pg, "pg_restore", "--list", str(path))
        chosen = path.with_name(f"{path.name}.restored")
        lines = [line for line in listed.splitlines() if not any(each in line for each in LEFT_OUT)]
        drops = [f"DROP {kind} IF EXISTS {name} CASCADE;\n" for kind, name in pg.execute(OURS.encode())]
        pg.rollback()
        try:
            chosen.write_text("\n".join(lines) + "\n", "utf-8")
            _replace(pg, path, chosen, "".join(drops))
        finally:
            chosen.unlink(missing_ok=True)


def _replace(pg: psycopg.Connection, path: Path, chosen: Path, drops: str) -> None:
    """Drop and restore with one psql: should it fail, the old rows are still there."""
    restoring = [*_program(pg, "pg_restore"), "--no-owner", "--no-privileges", "--file=-"]
    applying = [*_program(pg, "psql"), "--no-psqlrc", "--quiet", "--single-transaction"]
    applying += ["--set=ON_ERROR_STOP=1", "--output=/dev/null", f"--dbname={_address()}", "--file=-"]
    with (
        subprocess.Popen(  # noqa: S603
            [*restoring, f"--use-list={chosen}", str(path)], stdout=subprocess.PIPE, env=_environment()
        ) as source,
        subprocess.Popen(  # noqa: S603
            applying, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        ) as target,
    ):
        assert source.stdout and target.stdin and target.stderr
        try:
            target.stdin.write(b"SET client_min_messages = warning;\n" + drops.encode())
            if pg.info.server_version < KNOWS_TRANSACTION_TIMEOUT:
                _copy_head(source.stdout, target.stdin)
            shutil.copyfileobj(source.stdout, target.stdin)
            if source.wait():
                # Without its end the transaction is rolled back.
                target.kill()
            target.stdin.close()
        except BrokenPipeError:
            source.kill()
        said = target.stderr.read().decode(errors="replace").strip()
    if source.returncode or target.returncode:
        raise BackupError(f"The database was not restored, and is as before: {said or 'pg_restore failed'}")


def _copy_head(source: IO[bytes], target: IO[bytes]) -> None:
    """Copy up to the first setting that the server does not know, and leave that out."""
    for line in source:
        if line.startswith(b"SET transaction_timeout"):
            return
        target.write(line)
        if line.startswith(b"CREATE"):
            return


def _run(pg: psycopg.Connection, program: str, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603
        [*_program(pg, program), *arguments],
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupError(f"{program} failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _program(pg: psycopg.Connection, name: str) -> list[str]:
    """Return one of PostgreSQL's programs that is at least as new as the server; raise `BackupError`."""
    wanted = pg.info.server_version // 10000
    candidates = [Path(found)] if (found := shutil.which(name)) else []
    with suppress(EmbeddedServerError):
        candidates = [programs() / name, *candidates]
    for candidate in candidates:
        said = subprocess.run(  # noqa: S603
            [str(candidate), "--version"], capture_output=True, text=True, check=False
        ).stdout
        digits = "".join(each if each.isdigit() else " " for each in said).split()
        if digits and int(digits[0]) >= wanted:
            return [str(candidate)]
    raise BackupError(f"{name} of PostgreSQL {wanted} or newer is needed: install the client programs.")


def _conninfo() -> str:
    name = str(settings.DATABASES["default"]["NAME"])
    return make_conninfo(settings.DATABASE_URL, dbname=name)


def _address() -> str:
    """Return the address without its password, which every account of this machine could read."""
    parts = conninfo_to_dict(_conninfo())
    parts.pop("password", None)
    return make_conninfo("", **parts)


def _environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    password = conninfo_to_dict(_conninfo()).get("password")
    return own | {"LC_ALL": "C"} | ({"PGPASSWORD": str(password)} if password else {})


def _close_pool() -> None:
    connection.close()
    if hasattr(connection, "close_pool"):
        connection.close_pool()
