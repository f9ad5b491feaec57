"""The embedded server: shared by processes, and there again after anything short of a lost disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from locus.serve import postgres
from locus.serve.postgres import EmbeddedServerError, Server, caches, start_embedded
from tests.testing.paths import ROOT

HOLD = """
import sys
from pathlib import Path
from locus.serve.postgres import start_embedded
print(start_embedded(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


class User:
    """A process that uses the server until it is told to leave."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(data_dir)],
            cwd=ROOT,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.process.communicate(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder with a path as short as an installation's: pytest's own are near the limit of a socket."""
    folder = Path(tempfile.mkdtemp(prefix="locus-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def using(data_dir: Path, **environment: str) -> Iterator[User]:
    user = User(data_dir, **environment)
    try:
        yield user
    finally:
        user.leave()


def ask(url: str, question: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(question.encode())
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]


def running(data_dir: Path) -> bool:
    """Tell whether the server's process is there."""
    noted = Server(data_dir.resolve() / "postgres").postmaster()
    if noted is None:
        return False
    try:
        os.kill(noted.pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_stopped(data_dir: Path) -> None:
    deadline = time.monotonic() + 20
    while running(data_dir) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(data_dir)


def test_a_database_with_vectors_that_keeps_its_rows(data_dir: Path) -> None:
    with using(data_dir) as user:
        with psycopg.connect(user.url) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("CREATE TABLE place (at vector(3))")
            connection.execute("INSERT INTO place VALUES ('[1,2,3]')")
        assert ask(user.url, "SELECT lower('ÄÉØ')") == "äéø"
    with using(data_dir) as user:
        assert ask(user.url, "SELECT at <-> '[1,2,5]' FROM place") == 2


def test_the_application_is_no_superuser(data_dir: Path) -> None:
    """By SQL a superuser reads every file of the account and runs programs."""
    with using(data_dir) as user:
        assert (
            ask(
                user.url, "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = user"
            )
            is False
        )
        assert (
            ask(user.url, "SELECT datdba::regrole::text FROM pg_database WHERE datname = 'locus'") == "locus"
        )
        for forbidden in (
            "COPY (SELECT 1) TO PROGRAM 'true'",
            "SELECT pg_read_file('PG_VERSION')",
            "CREATE ROLE x",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ask(user.url, forbidden)


MADE_BY_AN_EARLIER_VERSION = """
    CREATE TABLE kept (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number int, old serial, at vector(3));
    CREATE TABLE parts (id int) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF parts FOR VALUES FROM (1) TO (2);
    CREATE SEQUENCE counting;
    CREATE VIEW seen AS SELECT * FROM kept;
    CREATE TYPE mood AS ENUM ('well');
    CREATE TYPE pair AS (a int, b int);
    CREATE DOMAIN small AS int CHECK (VALUE < 10);
    CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT 2 * n';
    INSERT INTO kept (number) VALUES (7);
"""


def test_what_an_earlier_version_made_as_superuser_is_handed_over(data_dir: Path) -> None:
    with using(data_dir) as user:
        superuser = user.url.replace("locus@", "postgres@")
        with psycopg.connect(superuser, autocommit=True) as connection:
            connection.execute("ALTER DATABASE locus OWNER TO postgres")
            connection.execute(MADE_BY_AN_EARLIER_VERSION)
    with using(data_dir) as user:
        for change in (
            "ALTER TABLE kept ADD COLUMN word text",
            "INSERT INTO kept (number) VALUES (8)",
            "ALTER TABLE part ADD CHECK (id < 2)",
            "ALTER TYPE mood ADD VALUE 'ill'",
            "DROP FUNCTION twice",
            "DROP VIEW seen",
            "DROP TYPE pair",
            "DROP DOMAIN small",
            "DROP SEQUENCE counting",
            "DROP TABLE parts",
        ):
            ask(user.url, change)
        assert ask(user.url, "SELECT array_agg(number ORDER BY id) FROM kept") == [7, 8]


def test_nothing_but_its_own_socket_leads_to_it(data_dir: Path) -> None:
    with using(data_dir) as user:
        assert ask(user.url, "SHOW listen_addresses") == ""
        assert (data_dir / "postgres").stat().st_mode & 0o077 == 0


def test_the_last_one_to_leave_stops_it(data_dir: Path) -> None:
    first, second = User(data_dir), User(data_dir)
    assert first.url == second.url
    first.leave()
    assert ask(second.url, "SELECT 1") == 1
    second.leave()
    assert not running(data_dir)


def test_it_stops_when_its_last_user_is_killed(data_dir: Path) -> None:
    user = User(data_dir)
    user.kill()
    wait_until_stopped(data_dir)


@pytest.mark.slow("starts")
def test_a_killed_user_does_not_stop_it_for_the_others(data_dir: Path) -> None:
    first, second = User(data_dir), User(data_dir)
    first.kill()
    time.sleep(1)
    assert ask(second.url, "SELECT 1") == 1
    second.leave()
    assert not running(data_dir)


@pytest.mark.slow("starts")
def test_many_may_start_it_at_once(data_dir: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(data_dir)]
    options: dict[str, Any] = {"cwd": ROOT, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    users = [subprocess.Popen(command, **options) for _ in range(3)]
    urls = {user.communicate(timeout=60)[0] for user in users}
    assert len(urls) == 1
    assert not running(data_dir)


def test_it_recovers_from_a_killed_server(data_dir: Path) -> None:
    user = User(data_dir)
    ask(user.url, "CREATE TABLE kept AS SELECT 7 AS number")
    noted = Server(data_dir / "postgres").postmaster()
    assert noted
    os.kill(noted.pid, signal.SIGKILL)
    user.kill()
    with using(data_dir) as again:
        assert ask(again.url, "SELECT number FROM kept") == 7


@pytest.mark.slow("starts")
def test_a_process_id_that_now_belongs_to_a_stranger(data_dir: Path) -> None:
    with using(data_dir):
        note = data_dir / "postgres" / "cluster" / "postmaster.pid"
        lines = note.read_text().splitlines()
    note.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    with using(data_dir) as user:
        assert ask(user.url, "SELECT 1") == 1


@pytest.mark.slow("starts")
def test_an_interrupted_creation_is_begun_again(data_dir: Path) -> None:
    unfinished = data_dir / "postgres" / "cluster.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with using(data_dir) as user:
        assert ask(user.url, "SELECT 1") == 1


@pytest.mark.slow("starts")
@pytest.mark.parametrize("name", ["x" * 120, "with spaces, commas and 'quotes'"])
def test_any_path_will_do(data_dir: Path, name: str) -> None:
    with using(data_dir / name) as user:
        assert ask(user.url, "SELECT 1") == 1


@pytest.mark.parametrize(("gigabytes", "kept"), [(0.5, "128MB"), (8, "1024MB"), (256, "2048MB")])
def test_it_keeps_pages_in_a_part_of_the_memory(gigabytes: float, kept: str) -> None:
    assert caches(int(gigabytes * 2**30))["shared_buffers"] == kept


@pytest.mark.slow("starts")
def test_the_variables_of_another_postgresql_are_not_ours(data_dir: Path) -> None:
    with using(data_dir, PGHOST="db.example.org", PGPORT="6432", PGUSER="nobody", PGDATA="/nowhere") as user:
        assert user.url.startswith("postgresql://locus@/locus?host=")
        assert running(data_dir)


def test_data_of_another_version_are_not_touched(data_dir: Path) -> None:
    cluster = data_dir / "postgres" / "cluster"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("12\n")
    with pytest.raises(
        EmbeddedServerError, match=r"written by PostgreSQL 12, and this Locus brings 18: dump"
    ):
        start_embedded(data_dir)


def test_a_place_that_cannot_be_written(data_dir: Path) -> None:
    (data_dir / "file").touch()
    with pytest.raises(EmbeddedServerError, match=r"The database cannot use .*: File exists"):
        start_embedded(data_dir / "file")


@pytest.mark.parametrize(
    ("printed", "sentence"),
    [
        ("could not write: No space left on device", "The disk that holds .* is full: free some space"),
        ("could not create directory: Permission denied", "may not write to .*: change its permissions"),
        ("something strange", r"did not start \(initdb: something strange\); its log is"),
    ],
)
def test_what_postgresql_says_becomes_one_sentence(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, printed: str, sentence: str
) -> None:
    (data_dir / "initdb").write_text(f"#!/bin/sh\necho '{printed}'\nexit 1\n")
    (data_dir / "initdb").chmod(0o755)
    data_dir.chmod(0o755)
    monkeypatch.setattr(postgres, "programs", lambda: data_dir)
    with pytest.raises(EmbeddedServerError, match=sentence):
        start_embedded(data_dir / "data")


@pytest.mark.slow("starts")
def test_a_forked_child_does_not_stop_it(data_dir: Path) -> None:
    fork = HOLD.replace(
        "sys.stdin.read()",
        "import os\nif os.fork() == 0: sys.exit()\nos.wait()\nprint(os.path.exists(sys.argv[2]), flush=True)",
    )
    note = data_dir / "postgres" / "cluster" / "postmaster.pid"
    command = [sys.executable, "-c", fork, str(data_dir), str(note)]
    told = subprocess.check_output(command, cwd=ROOT, text=True, timeout=60)
    assert told.splitlines()[1] == "True"
    assert not running(data_dir)
