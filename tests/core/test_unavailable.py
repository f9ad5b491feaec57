"""What callers are told while PostgreSQL or Redis does not answer: to come again, and never “internal”.

Locus runs in a process of its own, because an address of the database can't change within one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from textwrap import dedent
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError
from procrastinate.exceptions import ConnectorException
from redis import exceptions as redis

from core.errors import Overloaded, Timeout
from core.unavailable import as_unavailable
from tests.testing.live import free_port
from tests.testing.paths import ROOT

PREPARED = """
import json, django
django.setup()
from django.db import connection
# Otherwise each request waits half a minute for a connection.
connection.pool.timeout = 0.5
from django.test import Client
client = Client(raise_request_exception=False, headers={"host": "localhost"})
"""


def run_without_services(script: str) -> Any:
    """Run a script in an installation whose database and Redis are away; return what it prints last."""
    nowhere = f"127.0.0.1:{free_port()}"
    environment = os.environ | {
        "DATABASE_URL": f"postgresql://locus@{nowhere}/locus",
        "REDIS_URL": f"redis://{nowhere}/0",
        "DJANGO_SETTINGS_MODULE": "locus.settings",
        "SECRET_KEY": "a key that only tests use",
        "EMBEDDING_BACKEND": "hashing",
        "EMBEDDING_MODEL": "hashing",
        "RERANKER": "none",
    }
    command = [sys.executable, "-c", PREPARED + dedent(script)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_programs_are_told_to_try_again() -> None:
    status, error, after = run_without_services("""
    reply = client.get("/api/v1/documents", headers={"Authorization": "Bearer kb_unknown"})
    print(json.dumps([reply.status_code, reply.json()["error"], reply.get("Retry-After")]))
    """)
    assert (status, error["code"], after) == (503, "overloaded", "10")
    assert "Try again" in error["message"]


def test_an_upload_is_told_so_before_django_sees_it() -> None:
    status, error = run_without_services("""
    import asyncio
    from locus.asgi import application
    sent = []
    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}
    async def send(message):
        sent.append(message)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/api/v1/documents", "raw_path": b"/api/v1/documents", "query_string": b"", "root_path": "",
        "headers": [(b"host", b"localhost"), (b"authorization", b"Bearer kb_unknown")],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }
    asyncio.run(application(scope, receive, send))
    body = b"".join(each.get("body", b"") for each in sent)
    print(json.dumps([sent[0]["status"], json.loads(body)["error"]]))
    """)
    assert (status, error["code"]) == (503, "overloaded")


def test_a_socket_says_so_and_closes_for_now() -> None:
    """1013 is “try again later”: the codes that end a right would log a client out."""
    accepted, error, code = run_without_services("""
    import asyncio
    from channels.testing import WebsocketCommunicator
    from locus.asgi import application
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer kb_unknown")]
    async def connect():
        socket = WebsocketCommunicator(application, "/ws/tools/rag_search", headers=headers)
        accepted, _ = await socket.connect(timeout=30)
        said = await socket.receive_json_from(timeout=30)
        closed = await socket.receive_output(timeout=30)
        return accepted, said["data"], closed["code"]
    print(json.dumps(asyncio.run(connect())))
    """)
    assert (accepted, error["code"], code) == (True, "overloaded", 1013)


def test_people_see_a_page_that_says_so() -> None:
    status, page, after = run_without_services("""
    from django.conf import settings
    client.cookies[settings.SESSION_COOKIE_NAME] = "s" * 32
    reply = client.get("/")
    print(json.dumps([reply.status_code, reply.content.decode(), reply.get("Retry-After")]))
    """)
    assert (status, after) == (503, "10")
    assert "Nothing you have stored is lost." in page


def test_a_committed_change_is_not_answered_with_a_failure_of_the_cache() -> None:
    """Else clients would do it again."""
    found = run_without_services("""
    from core.database import replicas
    from django.conf import settings
    settings.DATABASE_REPLICA_URLS = ["postgresql://unused"]
    replicas._primary_position = lambda: 7
    replicas.remember_write(1)
    print(json.dumps("answered"))
    """)
    assert found == "answered"


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (OperationalError("the connection is lost"), Overloaded),
        (InterfaceError("the connection is closed"), Overloaded),
        (psycopg.OperationalError("server closed the connection unexpectedly"), Overloaded),
        (redis.ConnectionError("Connection refused"), Overloaded),
        (redis.TimeoutError("Timeout reading from socket"), Overloaded),
        (psycopg.errors.QueryCanceled("canceling statement due to statement timeout"), Timeout),
    ],
)
def test_a_failure_that_passes_has_the_code_for_it(failure: Exception, error: type[Exception]) -> None:
    assert isinstance(as_unavailable(failure), error)


def test_what_django_raises_for_a_cancelled_statement_is_a_timeout() -> None:
    failure = OperationalError("canceling statement due to statement timeout")
    failure.__cause__ = psycopg.errors.QueryCanceled()
    assert isinstance(as_unavailable(failure), Timeout)


@pytest.mark.parametrize("failure", [ProgrammingError("no such column"), ValueError(), None])
def test_a_fault_of_ours_stays_one(failure: Exception | None) -> None:
    assert as_unavailable(failure) is None


def test_a_job_that_can_not_be_queued_while_the_database_is_away_is_told_so() -> None:
    """Procrastinate's own error was “internal”."""
    for cause, told in ((OperationalError("the server is gone"), True), (ProgrammingError("a fault"), False)):
        failure = ConnectorException("Database error.")
        failure.__cause__ = cause
        assert (as_unavailable(failure) is not None) is told
    assert as_unavailable(ConnectorException("Database error.")) is None


def test_no_row_of_the_database_gets_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    as_unavailable(OperationalError("disk full\nDETAIL: row (secret)"))
    assert "disk full" in caplog.text
    assert "secret" not in caplog.text
