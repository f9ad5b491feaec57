"""The previous release's data, brought up to date by today's code, while that release still runs.

`tests/samples/upgrade/make.py` says what the samples are.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from psycopg import errors
from psycopg.conninfo import make_conninfo

from tests.testing.paths import ROOT, SAMPLES
from tests.testing.scratch import url_of

FOLDER = SAMPLES / "upgrade"
STATEMENTS = [
    json.loads(line) for line in gzip.decompress((FOLDER / "statements.jsonl.gz").read_bytes()).splitlines()
]
ROW = re.compile(r"^INSERT INTO (?:public\.)?\S+ VALUES", re.M)
EMAIL = "ada@example.org"
ENVIRONMENT = {
    "EMBEDDING_BACKEND": "hashing",
    "EMBEDDING_MODEL": "hashing",
    "RERANKER": "none",
    "SECRET_KEY": "upgrade",
    "KEY_PEPPER": "upgrade",
    "ENCRYPTION_KEY": "upgrade",
}
# What somebody finds after the update, through today's API.
LOOK = """
import json
from django.test import Client
from accounts.models import User
from core.row_access import act_as_system_in_this_process
act_as_system_in_this_process()
client = Client(SERVER_NAME="localhost")
client.force_login(User.objects.get(email="ada@example.org"), "django.contrib.auth.backends.ModelBackend")
def get(path):
    reply = client.get(f"/api/v1/{path}")
    assert reply.status_code == 200, (path, reply.content[:500])
    return reply.json()
[document] = [each for each in get("documents")["results"] if each["name"] == "tarifa.md"]
reply = client.post("/api/v1/search", json.dumps({"query": "keeper of the lighthouse"}), "application/json")
assert reply.status_code == 200, reply.content
session = get("sessions")["results"][0]
print("FOUND", json.dumps({
    "document": [document["name"], document["status"], document["searchable"]],
    "chunks": [chunk["text"] for chunk in get(f"documents/{document['id']}/chunks")["results"]],
    "search": [hit["document_name"] for hit in reply.json()["results"]],
    "executions": sorted(each["tool"] for each in get("executions")["results"]),
    "session": session["title"],
    "messages": [each["content"] for each in get(f"sessions/{session['id']}/messages")["results"]][:1],
    "collections": [each["name"] for each in get("collections")["results"]],
}))
"""


@pytest.fixture
def earlier() -> Iterator[psycopg.Connection]:
    """A database of its own, with what the previous release had made of it."""
    names = {"user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    given = {name: connection.settings_dict[key] or None for name, key in names.items()}
    name = f"upgrade_{os.getpid()}"
    with psycopg.connect(make_conninfo(dbname="postgres", **given), autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        server.execute(f"CREATE DATABASE {name}".encode())
        try:
            with psycopg.connect(make_conninfo(dbname=name, **given), autocommit=True) as pg:
                yield pg
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def restore(pg: psycopg.Connection, *, with_rows: bool) -> None:
    dump = gzip.decompress((FOLDER / "release.sql.gz").read_bytes())
    pg.execute("CREATE EXTENSION IF NOT EXISTS vector")
    pg.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    pg.execute(dump)
    pg.execute("RESET ALL")
    if not with_rows:
        empty(pg)


def empty(pg: psycopg.Connection) -> None:
    """Delete what the release's own migrations have not made, so that its statements can make it again."""
    kept = {"django_migrations", "django_content_type", "auth_permission"}
    tables = pg.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    names = ", ".join(f'"{name}"' for (name,) in tables if name not in kept)
    pg.execute(f"TRUNCATE {names} RESTART IDENTITY CASCADE".encode())


def manage(pg: psycopg.Connection, folder: Path, *words: str) -> str:
    """Run a command of today's code on the database."""
    address = url_of(make_conninfo(pg.info.dsn, dbname=pg.info.dbname, password=pg.info.password or None))
    environment = os.environ | ENVIRONMENT | {"DATABASE_URL": address, "DATA_DIR": str(folder)}
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_data_of_the_previous_release_are_used_on(earlier: psycopg.Connection, tmp_path: Path) -> None:
    restore(earlier, with_rows=True)
    manage(earlier, tmp_path, "migrate", "--verbosity=0")
    said = manage(earlier, tmp_path, "shell", "--no-imports", "--command", LOOK)
    found = json.loads(said.partition("FOUND ")[2])
    assert found["document"] == ["tarifa.md", "ready", "full"]
    assert any("Ines Calderon" in text for text in found["chunks"])
    assert found["search"][:1] == ["tarifa.md"]
    assert {"rag_search", "chat"} <= set(found["executions"])
    assert (found["session"], found["messages"]) == ("About lamps", ["When was the lamp lit?"])
    assert found["collections"] == ["Lights"]


def test_the_previous_release_runs_on_while_an_update_goes_through(
    earlier: psycopg.Connection, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Expand, migrate, contract: what the last release asks and writes is understood by today's schema."""
    restore(earlier, with_rows=False)
    manage(earlier, tmp_path, "migrate", "--verbosity=0")
    refused: dict[str, str] = {}
    for statement in STATEMENTS:
        try:
            earlier.execute(statement.encode())
        # What an earlier statement was to have made, and a row that a migration has made.
        except (errors.ForeignKeyViolation, errors.UniqueViolation):
            continue
        except psycopg.Error as error:
            refused.setdefault(str(error).splitlines()[0], statement[:300])
    for problem, statement in refused.items():
        with subtests.test(problem):
            pytest.fail(f"{problem}: {statement}")
    written = earlier.execute("SELECT count(*) FROM kb_chunk").fetchone()
    assert written and written[0] > 0


def test_the_samples_have_something_of_everything() -> None:
    tables = {match[1] for each in STATEMENTS for match in [re.match(r'INSERT INTO "(\w+)"', each)] if match}
    assert {"kb_document", "kb_chunkvector", "kb_segment", "accounts_session", "search_execution"} <= tables
    assert len(STATEMENTS) > 150
