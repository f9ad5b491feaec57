"""Makes `release.sql.gz` and `statements.jsonl.gz`: what an earlier commit has stored, and what it asks.

    git worktree add /tmp/earlier COMMIT
    cd /tmp/earlier && PYTHON REPOSITORY/tests/samples/upgrade/make.py COMMIT

PYTHON is that of this checkout's `.venv`. The earlier code makes an installation of its own, with a document
found by words and vectors, a collection, a conversation, an answer and a webhook. `release.sql.gz` is a dump
of its database. `statements.jsonl.gz` has each statement that it sent meanwhile, with its values, in order:
today's schema must understand them, because processes of both versions run while an update goes through.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TEXT = (
    "# Lighthouse of Tarifa\n\nThe keeper of the lighthouse is Ines Calderon. "
    "She writes down the wind each hour.\n\n## Lamp\n\n"
    "The lamp was lit on 14 March 1864 and turns once in ten seconds.\n"
)
EMAIL = "ada@example.org"
# Statements about the session of a database, not about the schema.
LEFT_OUT = re.compile(
    r"^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|BEGIN|SET |SELECT set_config|LISTEN|UNLISTEN)", re.I
)
NOT_OURS = re.compile(r"^(CREATE|COMMENT ON) EXTENSION.*?;$", re.M)


def main(commit: str) -> None:
    """Write both files."""
    sys.path.insert(0, str(Path.cwd()))
    os.environ |= {"EMBEDDING_BACKEND": "hashing", "EMBEDDING_MODEL": "hashing", "RERANKER": "none"}
    os.environ |= {"SECRET_KEY": "upgrade", "KEY_PEPPER": "upgrade", "ENCRYPTION_KEY": "upgrade"}
    from tests.testing.scratch import environment, scratch_database

    with scratch_database():
        statements: list[str] = []
        with recorded(statements):
            make_installation()
        (HERE / "commit").write_text(f"{commit}\n")
        with gzip.GzipFile(HERE / "release.sql.gz", "wb", mtime=0) as file:
            file.write(dumped(environment()["DATABASE_URL"]).encode())
        with gzip.GzipFile(HERE / "statements.jsonl.gz", "wb", mtime=0) as file:
            file.write("".join(f"{json.dumps(each)}\n" for each in statements).encode())


def recorded(statements: list[str]) -> Any:
    """Add each statement that Django sends, with its values in it."""
    from django.db import connection

    def record(
        execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        cursor = context["cursor"].cursor
        for each in params if many else [params]:
            text = cursor.mogrify(sql, each) if each else str(sql)
            if not LEFT_OUT.match(text.strip()):
                statements.append(text)
        return execute(sql, params, many, context)

    return connection.execute_wrapper(record)


def make_installation() -> None:
    """Store a little of everything, through the API."""
    from django.core.management import call_command
    from django.test import Client

    from accounts.models import User

    User.objects.create_user(EMAIL, "a long password")
    from io import StringIO

    said = StringIO()
    call_command("create_api_key", "--user", EMAIL, "--scopes", "read", "write", "admin", stdout=said)
    [key] = [word for word in said.getvalue().split() if len(word) > 30][:1]
    headers = {"Authorization": f"Bearer {key}"}
    client = Client(SERVER_NAME="localhost")

    def post(path: str, body: Any) -> Any:
        reply = client.post(f"/api/v1/{path}", json.dumps(body), "application/json", headers=headers)
        assert reply.status_code < 300, (path, reply.status_code, reply.content[:500])
        return reply.json()

    document = post("documents", {"text": TEXT, "name": "tarifa.md"})["documents"][0]
    from ingestion.pipeline import ingest

    ingest(document["id"])
    workspace = client.get("/api/v1/workspaces", headers=headers).json()["results"][0]["id"]
    for path, body in (
        ("collections", {"name": "Lights", "workspace_id": workspace}),
        ("search", {"query": "Who is the keeper?"}),
        ("tools/rag_search", {"query": "Who is the keeper of the lighthouse?", "stream": False}),
    ):
        post(path, body)
    session = post("sessions", {"title": "About lamps"})
    post(f"sessions/{session['id']}/messages", {"content": "When was the lamp lit?", "stream": False})
    post(
        f"workspaces/{workspace}/webhooks",
        {"url": "https://example.org/hook", "events": ["document.indexed"]},
    )
    for path in (
        "documents",
        f"documents/{document['id']}",
        f"documents/{document['id']}/chunks",
        "executions",
        "sessions",
        "me",
        "preferences",
        "api-keys",
    ):
        reply = client.get(f"/api/v1/{path}", headers=headers)
        assert reply.status_code == 200, (path, reply.content[:300])


def dumped(url: str) -> str:
    """Return the database as statements that any client can send."""
    from locus.serve.postgres import programs

    options = ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--no-comments"]
    done = subprocess.run(
        [programs() / "pg_dump", *options, f"--dbname={url}"], capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("\\", "--"))]
    return NOT_OURS.sub("", "\n".join(line for line in lines if line.strip())) + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
