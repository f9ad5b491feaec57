"""Replicas: who reads from them, how stale they may be, and what is left when one takes the primary's place.

The servers are real. Locus runs beside them in processes of its own, because an address of the database can't
change within one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import psycopg
import pytest

from tests.testing.engines import EMBEDDED
from tests.testing.paths import ROOT
from tests.testing.replication import DatabaseServer, two_servers

PREPARED = """
import json, django
django.setup()
from core.row_access import act_as_system_in_this_process
act_as_system_in_this_process()
from django.db import connection, connections
from core.database import replicas
"""
Servers = tuple[DatabaseServer, DatabaseServer]


def environment(servers: Servers, **more: str) -> dict[str, str]:
    """Return the environment of an installation on these servers; whichever takes writes is the primary."""
    primary, replica = servers
    hosts = f"host={primary.folder},{replica.folder}&target_session_attrs=read-write"
    return (
        os.environ
        | EMBEDDED
        | {
            "DATABASE_URL": f"postgresql://locus@/locus?{hosts}",
            "DATABASE_REPLICA_URLS": replica.url,
            "DJANGO_SETTINGS_MODULE": "locus.settings",
            "SECRET_KEY": "a key that only tests use",
            "EMBEDDING_BACKEND": "hashing",
            "EMBEDDING_MODEL": "hashing",
            "RERANKER": "none",
        }
        | more
    )


def run(servers: Servers, script: str, **more: str) -> Any:
    """Run a script in an installation and return what it prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", PREPARED + dedent(script)],
        cwd=ROOT,
        env=environment(servers, **more),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with two_servers() as pair:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity=0"],
            cwd=ROOT,
            env=environment(pair),
            check=True,
        )
        yield pair


ADD = """
    from accounts.models import User, Workspace
    from tests.factories import indexed_document
    user = User.objects.create_user("ann{number}@example.org", "a long password")
    workspace = Workspace.create_for(user, name="team")
    document = indexed_document(workspace, "The lighthouse was built in 1772.")
"""


def test_lists_and_searches_read_from_the_replica_as_the_tenant(servers: Servers) -> None:
    found = run(
        servers,
        ADD.format(number=1)
        + """
    from django.test import Client
    from accounts.access.identity import principal_of_user
    from accounts.access.keys import create_key
    from accounts.scope import as_principal
    from kb.models import Document, Segment
    from search.questions import Question
    from search.retrieval import rank
    from tests.testing.payments import UNRECORDED
    import time
    from django.conf import settings
    # A request notes the use of its key, which a replica may lack for a moment.
    settings.REPLICA_MAX_LAG_SECS = 3600
    while not replicas._replicas.has("replica_0", replicas._replicas.required_position()):
        time.sleep(0.1)
    asked = []
    from core.database.base import DatabaseWrapper
    execute = DatabaseWrapper._execute
    def note(self, run, sql, *more):
        asked.append((self.alias, sql))
        return execute(self, run, sql, *more)
    DatabaseWrapper._execute = note
    for each in connections.all():
        each.execute_wrappers[:] = [each._execute]
    principal = principal_of_user(user)
    with as_principal(principal):
        texts = [each.chunk.text for each in rank(
            principal, Question("lighthouse"), limit=5, payment=UNRECORDED).results]
        searched = {alias for alias, sql in asked if '"kb_segment' in sql or '"kb_chunk"' in sql}
        def whose():
            with replicas.read_connection().cursor() as cursor:
                cursor.execute("SELECT current_setting('role'), count(*) FROM kb_document")
                return cursor.fetchone()
        role = replicas.read(whose)
    asked.clear()
    secret = create_key(user, "test")[1]
    headers = {"Authorization": f"Bearer {secret}", "Host": "localhost"}
    reply = Client().get("/api/v1/documents", headers=headers)
    listed = {alias for alias, sql in asked if sql.startswith("SELECT") and '"kb_document"' in sql}
    print(json.dumps([texts, sorted(searched), list(role), reply.status_code, len(reply.json()["results"]),
        "replica_0" in listed]))
    """,
    )
    assert found == [["The lighthouse was built in 1772."], ["replica_0"], ["locus_tenant", 1], 200, 1, True]


def test_who_has_written_reads_it_and_others_wait_for_a_bounded_time(servers: Servers) -> None:
    _, replica = servers
    try:
        found = run(
            servers,
            """
    import os, psycopg, time
    from accounts.models import User
    from core.row_access import RowAccess, with_access
    from django.conf import settings
    settings.REPLICA_MAX_LAG_SECS = 3600
    def who():
        return replicas.read(lambda: replicas.read_connection().alias)
    while who() != "replica_0":
        time.sleep(0.1)
    # Commits wait for the disk of the replica, not for its replay.
    psycopg.connect(os.environ["REPLICA"], autocommit=True).execute("SELECT pg_wal_replay_pause()")
    User.objects.create_user("late@example.org", "a long password")
    with with_access(RowAccess(user_id=1)):
        unaware = who()
        replicas.remember_write(1)
        writer = [who(), who()]
    with with_access(RowAccess(user_id=2)):
        other = who()
    seen = replicas.read(lambda: User.objects.filter(email="late@example.org").exists())
    settings.REPLICA_MAX_LAG_SECS = 0.0
    time.sleep(replicas.SAMPLE_SECS)
    strict = who()
    print(json.dumps([unaware, writer, other, seen, strict]))
    """,
            REPLICA=f"host={replica.folder} user=postgres dbname=postgres",
        )
    finally:
        replica.execute("SELECT pg_wal_replay_resume()")
    assert found == ["replica_0", ["default", "default"], "replica_0", False, "default"]


def test_a_replica_that_is_away_is_no_fault(servers: Servers) -> None:
    gone = "postgresql://locus@/locus?host=/nowhere"
    found = run(
        servers,
        """
    from accounts.models import User
    calls = []
    def count():
        calls.append(replicas.read_connection().alias)
        return User.objects.count() >= 0
    print(json.dumps([replicas.read(count), calls]))
    """,
        DATABASE_REPLICA_URLS=gone,
    )
    assert found == [True, ["default"]]


def test_a_failure_on_the_replica_is_tried_again_on_the_primary(servers: Servers) -> None:
    found = run(
        servers,
        """
    from django.db import OperationalError
    while not replicas._replicas.has("replica_0", replicas._primary_position()): pass
    calls = []
    def ask():
        calls.append(replicas.read_connection().alias)
        if len(calls) == 1:
            raise OperationalError("canceling statement due to conflict with recovery")
        return "answer"
    print(json.dumps([replicas.read(ask), calls, replicas.read(lambda: replicas.read_connection().alias)]))
    """,
    )
    assert found == ["answer", ["replica_0", "default"], "default"]


def test_behind_a_pooler_a_role_holds_for_one_transaction(servers: Servers) -> None:
    """What a pooler hands to another client has no role of ours; no statement of a tenant goes without."""
    found = run(
        servers,
        """
    from accounts.models import User, Workspace
    from accounts.access.identity import principal_of_user
    from accounts.scope import as_principal
    from core.row_access import as_system
    from django.db import transaction
    from kb.index.fetching import fetch_rows
    from kb.models import Document
    user = User.objects.create_user("pooled@example.org", "a long password")
    principal = principal_of_user(user)
    ROLE = "SELECT current_setting('role')"
    def role():
        with connection.cursor() as cursor:
            cursor.execute(ROLE)
            return cursor.fetchone()[0]
    def of_session():
        return connection.connection.execute(ROLE).fetchone()[0]
    seen = []
    with as_principal(principal):
        seen += [role(), of_session(), fetch_rows(ROLE, [])[0][0], of_session()]
        with transaction.atomic():
            seen += [role(), fetch_rows(ROLE, [])[0][0]]
            with as_system("a test"):
                seen.append(role())
            seen.append(role())
            try:
                with transaction.atomic():
                    connection.cursor().execute("SELECT 1/0")
            except Exception:
                seen.append(role())
        seen += [of_session(), role(), of_session()]
        visible = Document.unscoped.count()
    seen += [role(), of_session()]
    print(json.dumps([seen, visible]))
    """,
        DATABASE_DIRECT_URL=servers[0].url,
    )
    tenant, nobody = "locus_tenant", "none"
    alone = [tenant, nobody, tenant, nobody]
    together = [tenant, tenant, nobody, tenant, tenant]
    assert found == [[*alone, *together, nobody, tenant, nobody, nobody, nobody], 0]


def test_no_document_and_no_event_is_lost_when_a_replica_takes_over(servers: Servers) -> None:
    """Documents and events are stored without pause while the primary is killed; each that was confirmed
    is there."""
    primary, replica = servers
    command = [sys.executable, "-c", PREPARED + dedent(ADD.format(number=2)) + dedent(STORE_FOR_EVER)]
    given = environment(servers)
    with subprocess.Popen(command, cwd=ROOT, env=given, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        confirmed = [next(writer.stdout).strip() for _ in range(30)]
        primary.kill()
        replica.execute("SELECT pg_promote()")
        # The same process goes on with the new primary, without a change of its settings.
        confirmed += [next(writer.stdout).strip() for _ in range(30)]
        writer.kill()
        confirmed += [line for line in writer.stdout.read().splitlines() if line.endswith(".")]
    with psycopg.connect(replica.url) as connection:
        documents = {str(id) for (id,) in connection.execute("SELECT id FROM kb_document")}
        events = {
            f"{id} {seq}"
            for id, seq in connection.execute("SELECT execution_id, seq FROM search_executionevent")
        }
        jobs = {row[0] for row in connection.execute("SELECT args->>'document_id' FROM procrastinate_jobs")}
    stored = [line.removesuffix(".").split(" ", 1) for line in confirmed]
    assert {what for kind, what in stored if kind == "document"} <= documents & jobs
    assert {what for kind, what in stored if kind == "event"} <= events
    assert sum(kind == "event" for kind, _ in stored) > 20


STORE_FOR_EVER = """
    import io, sys, time, uuid
    import psycopg
    from procrastinate.exceptions import ConnectorException
    from django.core.files.base import ContentFile
    from django.db import DatabaseError, close_old_connections
    from accounts.access.identity import principal_of_user
    from kb.models import Document
    from kb.jobs import INGEST_TASK, defer_for_document
    from django.db import transaction
    from runs.events import PartialText, ToolPartialUpdate
    from runs.journal import EventBatch, store_all
    from runs.models import Execution
    execution = Execution.unscoped.create(tool="rag_search", user=user, workspace=workspace, inputs={})
    seq = 0
    def say(line):
        sys.stdout.write(line + ".\\n"); sys.stdout.flush()
    while True:
        try:
            with transaction.atomic():
                id = uuid.uuid4()
                document = Document(id=id, workspace=workspace, name="x", size=1, sha256="", identity=str(id))
                document.save(force_insert=True)
                defer_for_document(INGEST_TASK, id)
            say(f"document {id}")
            item = ToolPartialUpdate(data=PartialText(content="x"))
            [stored] = store_all([EventBatch(str(execution.pk), [item])])
            execution.refresh_from_db()
            say(f"event {execution.pk} {execution.last_seq}")
        except (DatabaseError, psycopg.Error, ConnectorException):
            close_old_connections()
            time.sleep(0.1)
"""
