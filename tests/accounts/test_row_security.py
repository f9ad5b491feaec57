"""PostgreSQL itself shows a principal no other tenant's rows, whatever the code forgets (ADR 39)."""

from __future__ import annotations

import asyncio
import contextvars
import os
import secrets
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction
from django.db.utils import ProgrammingError
from django.test import Client
from django.utils import timezone

from accounts import row_security
from accounts.access.identity import principal_of_user
from accounts.models import (
    ApiKey,
    AuditAction,
    AuditEntry,
    AuthorizationCode,
    Balance,
    Charge,
    DailyUsage,
    ExternalUserDeletion,
    Notification,
    NotificationKind,
    Program,
    ProgramToken,
    Session,
    User,
    Webhook,
    WebhookDelivery,
    Workspace,
    WorkspaceQuota,
)
from accounts.models.ledger import Purpose
from accounts.principal import Principal
from accounts.scope import ScopeError, as_principal, continue_as, rows_of
from assistants.models import (
    Assistant,
    AssistantVersion,
    Binding,
    BindingKind,
    ChatAnswer,
    ChatMessage,
    SessionAssistant,
    ToolServer,
    Visibility,
)
from core.database import base as backend
from core.database.base import HAS_TENANT_ROLE, SHOW_SOME, DatabaseWrapper
from core.row_access import NOTHING, SYSTEM, RowAccess, as_system, current_access, set_access, with_access
from core.threads import give_connection_back, in_database
from kb.doctor.protection import protections
from kb.index.merging import merge
from kb.index.segments import ScopeKey
from kb.models import Chunk, Document, DocumentCollection, IndexedDocument, IndexedScope, ScopeTerm, Segment
from locus.serve.postgres import SUPERUSER
from runs.models import Execution, ExecutionEvent, TransferKind, WorkspaceTransfer
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.skipif(
    os.environ.get("LOCUS_MUTATE") == "scopes", reason="the first wall is tested alone"
)
PROTECTED = row_security.protected_models()
# Tables that refer to a workspace or to tenants' rows, and why row-level security is not for them.
WITHOUT_POLICY = {
    "accounts_membership": "decides who a principal is",
    "accounts_apikey_workspaces": "decides who a principal is",
    "accounts_invitation": "is found by its secret, by people outside the workspace",
    "kb_idempotentrequest": "is found by its key alone, and names no workspace",
}


def add_rows(user: User, workspace: Workspace) -> None:
    """Add rows of a tenant to every protected table; a new table needs a line here."""
    for name in ("merged", "unmerged"):
        document = indexed_document(workspace, f"The {name} lighthouse of {user.email}.")
        if name == "merged":
            merge(ScopeKey.of(document))
    DocumentCollection.unscoped.create(workspace=workspace, name="Lighthouses")
    scope = IndexedScope.unscoped.create(workspace=workspace)
    ScopeTerm.objects.create(scope=scope, term="lighthous", chunks=1)
    IndexedDocument.objects.create(
        document_id=document.pk, scope=scope, chunks=1, length=1, space_ids=[], terms="", counts=b""
    )
    execution = Execution.unscoped.create(tool="rag_search", user=user, workspace=workspace, inputs={})
    ExecutionEvent.objects.create(execution=execution, seq=1, event="tool_end", data={})
    session = Session.unscoped.create(user=user, workspace=workspace)
    message = ChatMessage.unscoped.create(session=session, user=user, workspace=workspace, content="Why?")
    ChatAnswer.objects.create(execution=execution, message=message)
    assistant = Assistant.unscoped.create(user=user, workspace=workspace, name="Guide")
    AssistantVersion.objects.create(assistant=assistant, number=1, name="Guide", settings={})
    Binding.objects.create(assistant=assistant, kind=BindingKind.PAGE)
    SessionAssistant.objects.create(session=session, assistant=assistant)
    ToolServer.unscoped.create(workspace=workspace, name="tickets", url="https://example.org/mcp")
    costs = {"purpose": Purpose.MODEL, "provider": "x", "lease_until": timezone.now()}
    Charge.unscoped.create(workspace=workspace, amount=Decimal(1), **costs)
    Balance.unscoped.get_or_create(workspace=workspace)
    DailyUsage.unscoped.create(day=timezone.now(), workspace_id=workspace.pk, user_id=user.pk)
    WorkspaceQuota.unscoped.create(workspace=workspace)
    ExternalUserDeletion.unscoped.create(user=user, workspace_ids=[workspace.pk], external_user_id="x")
    WorkspaceTransfer.unscoped.create(kind=TransferKind.EXPORT, user=user, workspace=workspace)
    Notification.unscoped.create(kind=NotificationKind.WEBHOOK_DISABLED, user=user, workspace=workspace)
    program = Program.objects.create(name="Desk", redirect_uris=["https://desk.example/"])
    key = ApiKey.objects.create(user=user, program=program, name="Desk", prefix=secrets.token_hex(5))
    lasting = {"user": user, "scopes": ["read"], "resource": "x", "expires_at": timezone.now(), "key": key}
    ProgramToken.objects.create(**lasting, digest=secrets.token_hex(), kind="access")
    AuthorizationCode.objects.create(
        **lasting, digest=secrets.token_hex(), program=program, workspace_ids=[workspace.pk]
    )
    webhook = Webhook.unscoped.create(workspace=workspace, url="https://example.org/", events=[], secret="")
    WebhookDelivery.objects.create(webhook=webhook, event="document.indexed", body="{}")
    AuditEntry.unscoped.create(action=AuditAction.DOCUMENT_ADDED, workspace_id=workspace.pk, user=user)


def rows(table: str, condition: str = "true") -> set[str]:
    """Return the rows that the present context sees in a table, each as text."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT t::text FROM {table} t WHERE {condition}")
        return {row[0] for row in cursor}


def touched(statement: str, *parameters: object) -> int:
    """Return how many rows a statement touches, and undo it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        transaction.set_rollback(True)
        return int(cursor.rowcount)


def touched_blindly(table: str) -> int:
    """Return how many rows are touched by an update that reads no column; undo it."""
    fields = [field for field in reversed(PROTECTED[table]._meta.local_concrete_fields) if not field.unique]
    column = min(fields, key=lambda field: bool(field.remote_field)).column
    with as_system("a test"), connection.cursor() as cursor:
        cursor.execute(f"SELECT {column}::text FROM {table} LIMIT 1")
        value = cursor.fetchone()
    return touched(f"UPDATE {table} SET {column} = %s", *value) if value else 0


@dataclass(frozen=True)
class Tenants:
    """Two strangers with rows in every table, and by table the rows of the second one."""

    alice: Principal
    charlie: Principal
    charlies: dict[str, set[str]]


@pytest.fixture
def tenants(cast: Cast, in_segments: None) -> Tenants:
    add_rows(cast.alice, cast.team)
    before = {table: rows(table) for table in PROTECTED}
    add_rows(cast.charlie, cast.charlie.personal_workspace)
    charlies = {table: rows(table) - before[table] for table in PROTECTED}
    return Tenants(principal_of_user(cast.alice), principal_of_user(cast.charlie), charlies)


def test_each_table_has_policies_or_a_reason() -> None:
    def is_of_a_tenant(field: Any) -> bool:
        target = field.related_model
        table = getattr(getattr(target, "_meta", None), "db_table", None)
        refers = target is Workspace or table in PROTECTED
        return refers or field.name in {"workspace_id", "external_user_id"}

    found = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if any(is_of_a_tenant(field) for field in model._meta.local_concrete_fields)
    }
    assert found - PROTECTED.keys() == set(WITHOUT_POLICY)


@pytest.mark.parametrize("table", PROTECTED)
class TestEveryTable:
    def test_its_owner_sees_its_rows_and_a_stranger_none(self, tenants: Tenants, table: str) -> None:
        charlies = tenants.charlies[table]
        assert charlies, "add_rows() adds nothing to this table"
        with as_principal(tenants.charlie):
            assert charlies <= rows(table)
        for injected in ("true", "true OR true", "EXISTS (SELECT FROM accounts_workspace)"):
            with as_principal(tenants.alice):
                assert rows(table, injected)
                assert not rows(table, injected) & charlies
            with with_access(NOTHING):
                assert rows(table, injected) == set()

    def test_a_stranger_changes_and_deletes_nothing(self, tenants: Tenants, table: str) -> None:
        charlies = list(tenants.charlies[table])
        column = PROTECTED[table]._meta.local_concrete_fields[-1].column
        for access in (rows_of(tenants.alice), NOTHING):
            with with_access(access):
                for change in (f"UPDATE {table} t SET {column} = {column}", f"DELETE FROM {table} t"):
                    assert touched(f"{change} WHERE t::text = ANY (%s)", charlies) == 0

    def test_what_is_not_seen_is_not_touched_blindly(self, tenants: Tenants, table: str) -> None:
        """A statement that reads no column is held back by no policy but its own."""
        for access in (rows_of(tenants.alice), NOTHING):
            with with_access(access):
                seen = len(rows(table))
                assert touched(f"DELETE FROM {table}") <= seen
                assert touched_blindly(table) <= seen

    def test_a_stranger_adds_nothing(self, tenants: Tenants, table: str) -> None:
        columns = ", ".join(field.column for field in PROTECTED[table]._meta.local_concrete_fields)
        row = next(iter(tenants.charlies[table]))
        # The policy refuses before a unique index can.
        copy = f"""INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
            SELECT {columns} FROM (SELECT (%s::{table}).*) AS copied"""
        for access in (rows_of(tenants.alice), NOTHING):
            with with_access(access), pytest.raises(ProgrammingError, match="row-level security"):
                touched(copy, row)


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE kb_document CASCADE",
        "ALTER TABLE kb_document DISABLE ROW LEVEL SECURITY",
        "DROP POLICY locus_select ON kb_document",
        "DROP TABLE kb_chunk CASCADE",
        "CREATE TABLE mine ()",
    ],
)
def test_a_principal_can_not_change_the_tables_themselves(tenants: Tenants, statement: str) -> None:
    with as_principal(tenants.alice), pytest.raises(ProgrammingError):
        touched(statement)


class TestForgottenScope:
    """What the wall is for: code that forgets `restricted_to`."""

    def test_by_id(self, cast: Cast) -> None:
        document = indexed_document(cast.charlie.personal_workspace)
        with as_principal(principal_of_user(cast.alice)):
            assert Document.unscoped.filter(pk=document.pk).first() is None
            assert Chunk.unscoped.filter(document__workspace__name__startswith="P").count() == 0
            assert Document.unscoped.filter(pk=document.pk).update(name="mine") == 0
            with pytest.raises(Document.DoesNotExist):
                document.refresh_from_db()

    def test_a_row_can_not_be_moved_to_another_tenant(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        with (
            as_principal(principal_of_user(cast.alice)),
            pytest.raises(ProgrammingError),
            transaction.atomic(),
        ):
            Document.unscoped.filter(pk=document.pk).update(workspace=cast.charlie.personal_workspace)

    def test_a_request(self, cast: Cast, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        """A view whose scope is removed finds nothing of a stranger."""
        document = indexed_document(cast.team)
        # Of the class: what is taken back on an object stays there, before all later changes of its class.
        monkeypatch.setattr(
            type(Document.objects), "addressable_by", lambda self, principal: Document.unscoped.all()
        )
        address = f"/api/v1/documents/{document.pk}"
        assert client.get(address, headers=cast.headers("charlie")).status_code == 404
        assert client.get(address, headers=cast.headers("bob")).status_code == 200

    @pytest.mark.parametrize(
        ("of", "asked_by", "is_shared", "reads", "writes"),
        [
            (None, None, False, True, True),
            ("x", "x", False, True, True),
            ("x", None, False, False, False),
            ("x", "y", False, False, False),
            ("x", "X", False, False, False),
            (None, "x", False, False, False),
            (None, "x", True, True, False),
            ("y", "x", True, False, False),
        ],
    )
    @pytest.mark.usefixtures("in_segments")
    def test_external_users(
        self, cast: Cast, of: str | None, asked_by: str | None, is_shared: bool, reads: bool, writes: bool
    ) -> None:
        cast.team.share_with_external_users = is_shared
        cast.team.save()
        document = indexed_document(cast.team, external_user_id=of)
        with as_principal(principal_of_user(cast.alice, asked_by)):
            assert Document.unscoped.filter(pk=document.pk).exists() is reads
            assert Chunk.unscoped.filter(document_id=document.pk).exists() is reads
            assert Segment.unscoped.filter(document_id=document.pk).exists() is reads
            assert bool(Document.unscoped.filter(pk=document.pk).update(name="changed")) is writes

    @pytest.mark.parametrize("is_shared", [False, True])
    def test_documents_of_a_conversation(self, cast: Cast, is_shared: bool) -> None:
        """Also of one that others may read."""
        session = Session.unscoped.create(user=cast.alice, workspace=cast.team, shared=is_shared)
        indexed_document(cast.team, session=session)
        seen = {}
        for user in (cast.alice, cast.bob):
            with as_principal(principal_of_user(user)):
                seen[user.email] = Document.unscoped.count(), touched_blindly("kb_document")
        assert seen == {"alice@example.org": (1, 1), "bob@example.org": (0, 0)}


OWN = ["accounts_notification", "rag_search"]
SHARED = [
    "accounts_session",
    "assistants_chatmessage",
    "assistants_chatanswer",
    "assistants_sessionassistant",
    "search_executionevent",
    "chat",
]


class TestOwnRows:
    """Rows of alice's, some of them in a conversation that the members of its workspace may read."""

    @pytest.mark.parametrize(
        ("of", "is_shared", "asked_by", "as_external_user", "reads", "writes"),
        [
            (None, False, "alice", None, [*OWN, *SHARED], True),
            (None, False, "alice", "x", [], False),
            (None, False, "alice, who has left", None, [], False),
            (None, False, "bob", None, [], False),
            ("x", False, "alice", "x", [*OWN, *SHARED], True),
            ("x", False, "alice", "y", [], False),
            ("x", False, "alice", None, [], False),
            ("x", False, "bob", "x", [], False),
            (None, True, "alice", None, [*OWN, *SHARED], True),
            (None, True, "bob", None, SHARED, False),
            (None, True, "bob", "x", [], False),
            (None, True, "charlie", None, [], False),
            ("x", True, "bob", None, [], False),
            ("x", True, "bob", "x", [], False),
        ],
    )
    def test_who_reads_and_changes_them(
        self,
        cast: Cast,
        of: str | None,
        is_shared: bool,
        asked_by: str,
        as_external_user: str | None,
        reads: list[str],
        writes: bool,
    ) -> None:
        self._add(cast, of, is_shared)
        name, _, has_left = asked_by.partition(", ")
        asker = principal_of_user(getattr(cast, name), as_external_user)
        with as_principal(replace(asker, roles={}) if has_left else asker):
            assert self._seen() == set(reads)
            changed = {table for table in self._tables() if touched_blindly(table)}
        assert changed == (set(self._tables()) if writes else set())

    @pytest.mark.parametrize("difference", ["user", "external user", "external asker", "workspace"])
    def test_a_row_that_is_not_its_conversations_is_not_shared_with_it(
        self, cast: Cast, difference: str
    ) -> None:
        """Only a mistake of ours would put it there."""
        self._add(cast, None, is_shared=difference != "user")
        if difference == "user":
            Session.unscoped.update(user=cast.bob)
        elif difference == "external asker":
            Session.unscoped.update(user=cast.bob, external_user_id="x")
        for model in (Execution, ChatMessage):
            if difference == "external user":
                model.unscoped.update(external_user_id="x")
            elif difference == "workspace":
                model.unscoped.update(workspace=cast.alice.personal_workspace)
        with as_principal(principal_of_user(cast.bob, "x" if difference == "external asker" else None)):
            assert self._seen() == {"accounts_session", "assistants_sessionassistant"}

    @staticmethod
    def _add(cast: Cast, of: str | None, is_shared: bool) -> None:
        owner: dict[str, Any] = {"user": cast.alice, "workspace": cast.team, "external_user_id": of}
        session = Session.unscoped.create(shared=is_shared, **owner)
        message = ChatMessage.unscoped.create(session=session, content="Why?", **owner)
        Notification.unscoped.create(kind=NotificationKind.WEBHOOK_DISABLED, **owner)
        Execution.unscoped.create(tool="rag_search", session=session, inputs={}, **owner)
        chat = Execution.unscoped.create(tool="chat", session=session, inputs={}, **owner)
        ChatAnswer.objects.create(execution=chat, message=message)
        ExecutionEvent.objects.create(execution=chat, seq=1, event="tool_end", data={})
        guide = Assistant.unscoped.create(user=cast.alice, workspace=cast.team, name="Guide")
        SessionAssistant.objects.create(session=session, assistant=guide)

    @staticmethod
    def _tables() -> list[str]:
        return ["search_execution", *(name for name in (*OWN, *SHARED) if name in PROTECTED)]

    def _seen(self) -> set[str]:
        """Return the tables of which a row is seen, and of executions the tools."""
        tools = set(Execution.unscoped.values_list("tool", flat=True))
        return tools | {table for table in self._tables()[1:] if rows(table)}


class TestAssistants:
    """One of alice's own and one of her team, each with a version and a binding."""

    @pytest.mark.parametrize(
        ("asked_by", "as_external_user", "reads", "writes"),
        [
            ("alice", None, {"own", "team's"}, 2),
            ("alice", "x", {"team's"}, 0),
            ("alice, who has left", None, set(), 0),
            ("bob", None, {"team's"}, 1),
            ("bob", "x", {"team's"}, 0),
            ("charlie", None, set(), 0),
        ],
    )
    def test_who_reads_and_changes_them(
        self, cast: Cast, asked_by: str, as_external_user: str | None, reads: set[str], writes: int
    ) -> None:
        for name, visibility in (("own", Visibility.MINE), ("team's", Visibility.WORKSPACE)):
            made = Assistant.unscoped.create(
                user=cast.alice, workspace=cast.team, name=name, visibility=visibility
            )
            AssistantVersion.objects.create(assistant=made, number=1, name=name, settings={})
            Binding.objects.create(assistant=made, kind=BindingKind.PAGE)
        name, _, has_left = asked_by.partition(", ")
        asker = principal_of_user(getattr(cast, name), as_external_user)
        with as_principal(replace(asker, roles={}) if has_left else asker):
            assert set(Assistant.unscoped.values_list("name", flat=True)) == reads
            assert set(AssistantVersion.objects.values_list("name", flat=True)) == reads
            assert Binding.objects.count() == len(reads)
            for model in (Assistant, AssistantVersion, Binding):
                table = model._meta.db_table
                assert touched_blindly(table) == writes, table
                assert touched(f"DELETE FROM {table}") == writes, table


class TestContexts:
    def test_a_scoped_query_for_another_principal_is_a_bug(self, cast: Cast) -> None:
        alice, bob = principal_of_user(cast.alice), principal_of_user(cast.bob)
        with as_principal(alice), pytest.raises(ScopeError, match="works for another one"):
            Document.objects.restricted_to(bob)
        with as_principal(alice), pytest.raises(ScopeError):
            Document.objects.addressable_by(replace(alice, external_user_id="x"))
        narrowed = replace(alice, roles={cast.team.pk: alice.roles[cast.team.pk]})
        with as_principal(alice):
            assert list(Document.objects.restricted_to(narrowed)) == []

    def test_the_first_scoped_query_of_a_context_says_for_whom_it_works(self, cast: Cast) -> None:
        document, alice = indexed_document(cast.team), principal_of_user(cast.alice)
        with with_access(NOTHING):
            assert not Document.unscoped.exists()
            assert list(Document.objects.restricted_to(alice)) == [document]
            assert current_access() == rows_of(alice)
        assert current_access().is_system

    def test_blocks_nest_and_end_with_errors(self, cast: Cast) -> None:
        indexed_document(cast.team)
        alice, charlie = principal_of_user(cast.alice), principal_of_user(cast.charlie)

        def count() -> int:
            return Document.unscoped.count()

        with as_principal(charlie):
            assert count() == 0
            with as_system("a test"):
                assert count() == 1
                with suppress(ZeroDivisionError), as_principal(alice):
                    assert count() == 1
                    continue_as(charlie)
                    assert count() == 0
                    raise ZeroDivisionError
                assert count() == 1
            assert count() == 0

    def test_a_generator_that_is_closed_elsewhere_changes_no_access_there(self) -> None:
        """As the garbage collector closes one that a finished request left behind."""

        def read() -> Generator[None]:
            with as_system("a test"):
                yield

        def begin() -> Generator[None]:
            set_access(NOTHING)
            left_behind = read()
            next(left_behind)
            return left_behind

        for access in (NOTHING, RowAccess(user_id=1), SYSTEM):
            left_behind = contextvars.copy_context().run(begin)
            with with_access(access):
                left_behind.close()
                assert current_access() == access

    def test_a_block_that_ends_in_a_copy_of_its_context_ends_there(self) -> None:
        with with_access(NOTHING):
            block = as_system("a test")
            block.__enter__()
            copy = contextvars.copy_context()
            copy.run(block.__exit__, None, None, None)
            assert copy.run(current_access) == NOTHING

    def test_a_rollback_takes_no_other_access_along(self, cast: Cast) -> None:
        """PostgreSQL takes a setting back with its transaction or savepoint."""
        indexed_document(cast.team)
        alice, charlie = principal_of_user(cast.alice), principal_of_user(cast.charlie)
        with as_principal(charlie):
            assert Document.unscoped.count() == 0
            with transaction.atomic():
                with suppress(DatabaseError), transaction.atomic(), as_principal(alice):
                    assert Document.unscoped.count() == 1
                    with connection.cursor() as cursor:
                        cursor.execute("SELECT 1 / 0")
                assert Document.unscoped.count() == 0
                with transaction.atomic(), as_principal(alice):
                    assert Document.unscoped.count() == 1
                    transaction.set_rollback(True)
                assert Document.unscoped.count() == 0
                transaction.set_rollback(True)
            assert Document.unscoped.count() == 0

    def test_a_cursor_follows_its_context(self, cast: Cast) -> None:
        indexed_document(cast.team)
        with connection.cursor() as cursor:
            for user, expected in ((cast.charlie, 0), (cast.alice, 1)):
                with as_principal(principal_of_user(user)):
                    cursor.execute("SELECT count(*) FROM kb_document")
                    assert cursor.fetchone() == (expected,)


@pytest.mark.django_db(transaction=True)
class TestConnections:
    """What one context sets never shows another context too much or too little."""

    def test_threads_share_a_pool(self, cast: Cast) -> None:
        accesses = self._accesses(cast)
        barrier = threading.Barrier(6)
        errors: list[object] = []

        def work(seed: int) -> None:
            chance = Random(seed)
            barrier.wait()
            for _ in range(60):
                access, expected = chance.choice(accesses)
                with suppress(ZeroDivisionError, DatabaseError), with_access(access):
                    self._use(chance, expected, errors)
            connection.close()

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(work, range(6)))
        assert errors == []

    @staticmethod
    def _accesses(cast: Cast) -> list[tuple[RowAccess, set[str]]]:
        """Return rights, each with the documents that it shows."""
        names: dict[str, Workspace] = {"team": cast.team, "own": cast.charlie.personal_workspace}
        for name, workspace in names.items():
            indexed_document(workspace, name=name)
        return [
            (rows_of(principal_of_user(cast.alice)), {"team"}),
            (rows_of(principal_of_user(cast.charlie)), {"own"}),
            (rows_of(principal_of_user(cast.alice, "x")), set()),
            (RowAccess(is_system=True), {"team", "own"}),
            (NOTHING, set()),
        ]

    @staticmethod
    def _use(chance: Random, expected: set[str], errors: list[object]) -> None:
        """Use this thread's connection in one of many ways, and note what it should not have shown."""

        def look() -> None:
            seen = set(Document.unscoped.values_list("name", flat=True))
            if seen != expected:
                errors.append((seen, expected))

        look()
        match chance.randrange(6):
            case 0:
                give_connection_back()
            case 1:
                with transaction.atomic():
                    look()
                    raise ZeroDivisionError
            case 2:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT 1 / 0")
            case 3:
                with transaction.atomic():
                    with suppress(DatabaseError), transaction.atomic(), with_access(NOTHING):
                        expected, before = set(), expected
                        look()
                        expected = before
                        Document.unscoped.create(workspace_id=uuid4(), size=1, name="", identity="")
                    look()
            case 4:
                connection.close()
            case 5:
                # A connection that is closed within a transaction goes back to the pool in its middle.
                with suppress(DatabaseError), transaction.atomic():
                    look()
                    connection.close()
        look()

    async def test_tasks_that_are_cancelled(self, cast: Cast) -> None:
        accesses = await in_database(self._accesses, cast)

        def slow() -> set[str]:
            names = Document.unscoped.values_list("name", flat=True)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(0.002)")
            return set(names)

        async def ask(access: RowAccess) -> set[str]:
            with with_access(access):
                return await in_database(slow)

        asked = [Random(seed).choice(accesses) for seed in range(200)]
        tasks = [asyncio.create_task(ask(access)) for access, _ in asked]
        await asyncio.sleep(0.02)
        for task in tasks[::3]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        told = [
            (seen, expected) for seen, (_, expected) in zip(done, asked, strict=True) if isinstance(seen, set)
        ]
        assert len(told) > 100
        assert all(seen == expected for seen, expected in told)


class TestInstallation:
    @staticmethod
    def _address() -> dict[str, Any]:
        names = {"dbname": "NAME", "host": "HOST", "port": "PORT"}
        given = connection.settings_dict
        return {key: given[name] for key, name in names.items() if given[name]}

    def _as_superuser(self, statement: str) -> None:
        with psycopg.connect(user=SUPERUSER, autocommit=True, **self._address()) as superuser:
            superuser.execute(statement.encode())

    def test_doctor_finds_nothing(self, db: None) -> None:
        assert row_security.missing() == []
        [told] = [each for each in protections() if each.code == "row_security"]
        assert told.missing == []

    def test_a_migration_repairs_policies_and_rights(self, db: None) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP POLICY locus_delete ON kb_chunk")
            cursor.execute("ALTER TABLE kb_document DISABLE ROW LEVEL SECURITY")
            cursor.execute("REVOKE UPDATE ON kb_segment FROM locus_tenant")
        assert [gap.partition(":")[0] for gap in row_security.missing()] == [
            "The table kb_chunk lacks its policies",
            "The table kb_document lacks its policies",
            "The role locus_tenant lacks rights",
        ]
        call_command("migrate", verbosity=0)
        assert row_security.missing() == []

    def test_a_role_that_may_create_roles_creates_it(self, db: None) -> None:
        self._as_superuser("CREATE ROLE installer LOGIN CREATEROLE")
        try:
            with psycopg.connect(user="installer", autocommit=True, **self._address()) as own:
                assert own.execute(HAS_TENANT_ROLE).fetchone() == (0,)
                own.execute("CREATE ROLE installer_tenant NOLOGIN")
                assert own.execute(HAS_TENANT_ROLE).fetchone() == (0,)
                own.execute("GRANT installer_tenant TO installer")
                assert own.execute(HAS_TENANT_ROLE).fetchone() == (1,)
                own.execute(SHOW_SOME, ["1", "{}", "{}", ""])
                assert own.execute("SELECT current_user::text").fetchone() == ("installer_tenant",)
        finally:
            self._as_superuser("DROP ROLE IF EXISTS installer_tenant; DROP ROLE installer")

    @pytest.mark.django_db(transaction=True)
    def test_without_the_second_role_everything_works_and_doctor_says_what_is_missing(
        self, cast: Cast, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = indexed_document(cast.team)
        wrapper = connections[DEFAULT_DB_ALIAS]
        assert isinstance(wrapper, DatabaseWrapper)
        with monkeypatch.context() as patch:
            # Taken away in earnest, it would be missed by the tests of other processes: all share the roles.
            for module in (backend, row_security):
                patch.setattr(module, "HAS_TENANT_ROLE", "SELECT false")
            wrapper.forget_tenant_role()
            call_command("migrate", verbosity=0)
            assert any("CREATE ROLE" in gap for gap in row_security.missing())
            address = f"/api/v1/documents/{document.pk}"
            assert client.get(address, headers=cast.headers("bob")).status_code == 200
            assert client.get(address, headers=cast.headers("charlie")).status_code == 404
            with as_principal(principal_of_user(cast.charlie)):
                assert Document.unscoped.count() == 1
        wrapper.forget_tenant_role()
