"""Usage: counted once whatever happens, and without names once people are gone."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as DjangoCase

from accounts.access.identity import principal_of_key, principal_of_user
from accounts.audit.recording import record
from accounts.ledger.balances import book, reserve, settle
from accounts.ledger.base import Order, Payer, Reservation
from accounts.models import ApiKey, AuditAction, AuditEntry, Charge, DailyUsage, Workspace
from accounts.models.ledger import Purpose
from accounts.people.deletion import delete_users
from accounts.principal import Principal, UsageOwner
from accounts.usage.counting import COUNTED, UsageCount, count_usage
from accounts.usage.forgetting import DELETED_EXTERNAL_USER, forget_external_user
from ingestion import pipeline
from ingestion.progress import Superseded
from kb.documents import reprocess
from kb.models import Document
from runs.events import ToolEnd, Trace, Usage
from runs.journal import EventBatch, failure, store_all
from runs.lifecycle import begin, cancel, delete_execution
from runs.models import Execution
from runs.registry import tool_named
from tests.conftest import Cast, make_cast
from tests.ingestion.conftest import upload_to
from tests.runs.test_executions import end
from tests.testing.paths import SAMPLES

pytestmark = pytest.mark.django_db


def report_in(workspace: Workspace) -> Document:
    return upload_to(workspace, (SAMPLES / "report.pdf").read_bytes(), "report.pdf")


def usage_of(**where: Any) -> dict[str, int]:
    sums = DailyUsage.unscoped.filter(**where).aggregate(**{name: Sum(name, default=0) for name in COUNTED})
    return {name: count for name, count in sums.items() if count}


def begun(principal: Principal, workspace_id: UUID | None = None) -> Execution:
    tool = tool_named("rag_search")
    return begin(principal, tool, tool.parse(principal, {"query": "Who kept the light?"}), workspace_id)


def finish(execution: Execution, tokens: int = 0) -> list[bool]:
    trace = Trace(usage=Usage(input_tokens=tokens, output_tokens=1), cost=None, timings={}, steps={})
    outcome: ToolEnd = end(execution.pk)
    return store_all([EventBatch(execution.pk, [trace, outcome])])


def test_a_run_is_counted_when_it_ends_for_whom_it_was(cast: Cast) -> None:
    key = ApiKey.objects.get(user=cast.alice)
    execution = begun(principal_of_key(key, "customer"), cast.team.pk)
    assert usage_of() == {}
    finish(execution, 7)
    row = DailyUsage.unscoped.get()
    assert (row.workspace_id, row.user_id, row.key_id) == (cast.team.pk, cast.alice.pk, key.pk)
    assert (row.external_user_id, row.day) == ("customer", datetime.now(UTC).date())
    assert usage_of() == {"questions": 1, "input_tokens": 7, "output_tokens": 1}


def test_a_run_that_ends_twice_is_counted_once(cast: Cast) -> None:
    execution = begun(principal_of_user(cast.alice))
    assert finish(execution, 7) == [True]
    assert finish(execution, 7) == [False]
    store_all([failure(execution.pk, "internal", "Its server has stopped.")])
    cancel(execution)
    assert usage_of()["questions"] == 1
    delete_execution(execution)
    assert usage_of() == {"questions": 1, "input_tokens": 7, "output_tokens": 1}


def test_what_is_rolled_back_is_not_counted(cast: Cast) -> None:
    """As when a process is killed before it commits."""
    execution = begun(principal_of_user(cast.alice))
    with pytest.raises(RuntimeError), transaction.atomic():
        finish(execution, 7)
        raise RuntimeError
    assert usage_of() == {}
    finish(execution, 7)
    assert usage_of()["input_tokens"] == 7


@pytest.mark.django_db(transaction=True)
def test_counts_at_once_add_up_and_do_not_block_each_other() -> None:
    workspaces = [uuid4() for _ in range(3)]
    owners = [UsageOwner(number, None, None) for number in range(3)]
    errors: list[Exception] = []

    def count(turn: int) -> None:
        try:
            for shift in range(10):
                order = [(turn + shift + place) % 3 for place in range(3)]
                count_usage(UsageCount(workspaces[i], owners[i], questions=1) for i in order)
        except Exception as error:  # noqa: BLE001 - shown by the test
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=count, args=(turn,)) for turn in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert {row.questions for row in DailyUsage.unscoped.all()} == {60}
    assert DailyUsage.unscoped.count() == 3


class TestIngestion:
    @pytest.fixture
    def document(self, cast: Cast) -> Document:
        return report_in(cast.team)

    def test_a_document_and_its_pages_are_counted_once(self, cast: Cast, document: Document) -> None:
        assert usage_of() == {"documents": 1}
        pipeline.ingest(document.pk)
        assert usage_of(user_id=document.uploaded_by_id) == {"documents": 1, "pages": 4}
        with pytest.raises(Superseded):
            pipeline.embed(document.pk, lambda: False)
        assert usage_of() == {"documents": 1, "pages": 4}

    def test_a_job_that_is_repeated_after_a_crash_counts_once(self, document: Document) -> None:
        pipeline.read(document.pk, lambda: False)
        pipeline.read(document.pk, lambda: False)
        pipeline.embed(document.pk, lambda: False)
        assert usage_of() == {"documents": 1, "pages": 4}

    def test_pages_that_are_read_again_count_again(self, document: Document) -> None:
        pipeline.ingest(document.pk)
        reprocess(document)
        pipeline.ingest(document.pk)
        assert usage_of() == {"documents": 1, "pages": 8}

    def test_the_same_document_again_is_none_more(self, cast: Cast, document: Document) -> None:
        assert report_in(cast.team) == document
        assert usage_of() == {"documents": 1}


class TestForgetting:
    def test_a_deleted_user_leaves_sums_without_names(self, cast: Cast) -> None:
        for user in (cast.alice, cast.bob):
            for external in (None, "x", "y"):
                owner = UsageOwner(user.pk, uuid4(), external)
                count_usage([UsageCount(cast.team.pk, owner, questions=1, pages=2)])
                order = Order(Payer(cast.team.pk, owner=owner), Purpose.MODEL, "m", Decimal("0.5"))
                book(Reservation(order), Decimal("0.5"), is_spent=True)
        record(AuditAction.DATA_EXPORTED, cast.bob, workspace_id=cast.team.pk)
        AuditEntry.unscoped.update(address="192.0.2.7")
        delete_users([cast.bob.pk])
        gone = {row.external_user_id: row.questions for row in DailyUsage.unscoped.filter(user_id=None)}
        assert gone == {None: 1, DELETED_EXTERNAL_USER: 2}
        assert not DailyUsage.unscoped.filter(user_id=None).exclude(key_id=None).exists()
        assert usage_of() == {"questions": 6, "pages": 12}
        assert usage_of(user_id=cast.alice.pk) == {"questions": 3, "pages": 6}
        charges = Charge.unscoped.filter(user_id=None, key_id=None)
        assert sorted(charges.values_list("external_user_id", flat=True), key=str) == ["", "", None]
        entry = AuditEntry.unscoped.get(action=AuditAction.DATA_EXPORTED)
        assert (entry.user, entry.address) == (None, "")

    def test_an_external_user_is_forgotten_in_the_named_workspaces(self, cast: Cast) -> None:
        other = cast.alice.personal_workspace
        for workspace in (cast.team, other):
            for external in ("x", "y"):
                owner = UsageOwner(cast.alice.pk, None, external)
                count_usage([UsageCount(workspace.pk, owner, questions=1)])
        count_usage([UsageCount(cast.team.pk, UsageOwner(cast.alice.pk, None, ""), questions=5)])
        record(AuditAction.DOCUMENT_ADDED, principal_of_user(cast.alice, "x"), workspace_id=cast.team.pk)
        forget_external_user([cast.team.pk], "x")
        rows = DailyUsage.unscoped.order_by("workspace_id", "external_user_id")
        assert {(r.workspace_id, r.external_user_id, r.questions) for r in rows} == {
            (cast.team.pk, "", 6),
            (cast.team.pk, "y", 1),
            (other.pk, "x", 1),
            (other.pk, "y", 1),
        }
        assert AuditEntry.unscoped.get().external_user_id == ""


ASKED = st.tuples(
    st.sampled_from(["alice", "bob", "charlie"]),
    st.sampled_from([None, "x", "y"]),
    st.booleans(),
    st.integers(0, 1000),
    st.sampled_from(["finish", "fail", "cancel", "delete", "twice", "leave"]),
    st.integers(0, 5),
)


class TestSums(DjangoCase):
    """The sums of usage are what executions and the ledger say."""

    @given(st.lists(ASKED, max_size=12))
    def test_the_sums_of_usage(self, asked: list[tuple[str, str | None, bool, int, str, int]]) -> None:
        cast = make_cast()
        expected: dict[tuple[UUID, int, str | None], list[Decimal | int]] = {}
        for name, external, in_team, tokens, fate, cents in asked:
            principal = principal_of_user(getattr(cast, name), external)
            in_team = in_team and name != "charlie"
            execution = begun(principal, cast.team.pk if in_team else None)
            if cents:
                payer = Payer(execution.workspace_id, None, execution.pk, principal.usage_owner)
                order = Order(payer, Purpose.MODEL, "m", Decimal(1))
                reservation = Reservation(order)
                reserve(reservation)
                settle(reservation, Decimal(cents) / 100)
            sums = expected.setdefault((execution.workspace_id, principal.user_id, external), [0, 0, 0])
            sums[2] += Decimal(cents) / 100
            end_with(execution, fate, tokens)
            if fate != "leave":
                sums[0] += 1
            if fate in ("finish", "twice", "delete"):
                sums[1] += tokens
        found = {
            key: [
                usage_of(**where(key)).get("questions", 0),
                usage_of(**where(key)).get("input_tokens", 0),
                Charge.unscoped.filter(**where(key)).aggregate(total=Sum("amount"))["total"] or 0,
            ]
            for key in expected
        }
        assert found == expected
        kept = Execution.unscoped.exclude(finished_at=None)
        deleted = sum(fate == "delete" for *_, fate, _ in asked)
        assert usage_of().get("questions", 0) == kept.count() + deleted


def where(key: tuple[UUID, int, str | None]) -> dict[str, Any]:
    return dict(zip(("workspace_id", "user_id", "external_user_id"), key, strict=True))


def end_with(execution: Execution, fate: str, tokens: int) -> None:
    if fate in ("finish", "twice", "delete"):
        finish(execution, tokens)
    if fate == "twice":
        finish(execution, tokens)
    if fate == "fail":
        store_all([failure(execution.pk, "internal", "It failed.")])
    if fate == "cancel":
        cancel(execution)
    if fate == "delete":
        delete_execution(execution)
