"""The dashboard of the admin panel: its figures, what they lead to, and who sees which."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.models import User
from kb.models import Document, Status
from locus.dashboard import figures as module
from locus.dashboard.figures import RunDay, fresh_figures
from locus.dashboard.plots import LatencyPlot, RunPlot
from runs.lifecycle import begin
from runs.models import Execution, ExecutionStatus
from runs.registry import tool_named
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.test_web_use import charge

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture(autouse=True)
def _nothing_cached() -> None:
    cache.clear()


def executed(user: User, at: datetime, secs: float | None, status: str = "completed") -> Execution:
    """Return an execution that began at a moment and took so many seconds."""
    principal = principal_of_user(user)
    tool = tool_named("rag_search")
    execution = begin(principal, tool, tool.parse(principal, {"query": "anything"}), None)
    finished = None if secs is None else at + timedelta(seconds=secs)
    Execution.unscoped.filter(pk=execution.pk).update(created_at=at, finished_at=finished, status=status)
    return execution


def staff_with(*permissions: str) -> Client:
    """Return a client of staff that has these permissions, such as `kb.view_document`."""
    user = User.objects.create_user("clerk@example.org", is_staff=True)
    for name in permissions:
        app, codename = name.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def root(cast: Cast) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.org"))
    return client


def test_documents_are_counted_by_state_with_their_bytes(cast: Cast) -> None:
    first, second = indexed_document(cast.team), indexed_document(cast.team)
    Document.unscoped.filter(pk=second.pk).update(status=Status.FAILED, size=1000)
    counted = {
        state.status: (state.number, state.bytes) for state in fresh_figures(timezone.now()).states or ()
    }
    assert counted["ready"] == (1, first.size)
    assert counted["failed"] == (1, 1000)
    assert set(counted) == set(Status.values)


def test_executions_are_counted_by_day_with_their_latency(cast: Cast) -> None:
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for secs in (1, 2, 3):
        executed(cast.alice, now - timedelta(days=2), secs)
    executed(cast.alice, now - timedelta(days=2), 60, ExecutionStatus.FAILED)
    executed(cast.alice, now - timedelta(hours=1), None, ExecutionStatus.RUNNING)
    executed(cast.alice, now - timedelta(days=40), 5)
    found = fresh_figures(now)
    assert found.days is not None and len(found.days) == module.DAYS
    day = next(day for day in found.days if day.day == (now - timedelta(days=2)).date())
    assert (day.completed, day.failed, day.others, day.p50) == (3, 1, 0, 2.0)
    assert day.p95 == pytest.approx(2.9)
    assert (found.days[-1].others, found.days[-1].p50) == (1, None)
    assert sum(day.total for day in found.days) == 5


def test_the_oldest_job_is_the_one_that_waits_longest(cast: Cast, settings: Any) -> None:
    from kb.jobs import INGEST_TASK, defer_for_document

    assert fresh_figures(timezone.now()).queue == module.QueueFigures(0, 0, 0, None, 0)
    defer_for_document(INGEST_TASK, indexed_document(cast.team).pk)
    queue = fresh_figures(timezone.now() + timedelta(minutes=5)).queue
    assert queue is not None and (queue.waiting, queue.running, queue.failed) == (1, 0, 0)
    assert queue.oldest is not None and timedelta(minutes=4) < queue.oldest < timedelta(minutes=6)


def test_what_takes_too_long_is_left_out(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow() -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr(module, "_states", slow)
    page = root.get("/admin/").content.decode()
    assert "Counting took too long" in page and "Questions a day" in page


def test_the_limit_of_a_statement_ends_with_its_block() -> None:
    from django.db import connection

    from core.limited import limited_statements

    def timeout() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('statement_timeout')")
            return str(cursor.fetchall()[0][0])

    before = timeout()
    with limited_statements(1.5):
        assert timeout() == "1500ms"
    assert timeout() == before
    with pytest.raises(OperationalError, match="timeout"), limited_statements(0.05):
        connection.cursor().execute("SELECT pg_sleep(2)")
    assert timeout() == before


def test_each_number_leads_to_the_list_that_it_counts(root: Client, cast: Cast) -> None:
    for status in (Status.FAILED, Status.FAILED, Status.READY):
        Document.unscoped.filter(pk=indexed_document(cast.team).pk).update(status=status)
    executed(cast.alice, timezone.now() - timedelta(hours=1), 2, ExecutionStatus.FAILED)
    executed(cast.alice, timezone.now() - timedelta(days=3), 2, ExecutionStatus.FAILED)
    page = root.get("/admin/").content.decode()
    links = re.findall(r'<a href="(/admin/[^"]*\?[^"]*)"[^>]*>([\d,]+)</a>', page)
    assert len(links) >= 7
    for address, number in links:
        reply = root.get(address.replace("&amp;", "&"))
        assert reply.status_code == 200, address
        assert reply.context["cl"].result_count == int(number.replace(",", "")), address


def test_spending_is_shown_with_its_limit(root: Client, cast: Cast, settings: Any) -> None:
    settings.MAX_COST = Decimal(5)
    charge(cast.team, "0.25", at=timezone.now())
    page = root.get("/admin/").content.decode()
    assert "$0.25" in page and "of $5.00" in page


def test_staff_see_the_figures_of_what_they_may_view(cast: Cast) -> None:
    indexed_document(cast.team)
    page = staff_with("kb.view_document").get("/admin/").content.decode()
    assert "Documents" in page and "Storage" in page
    for hidden in ("Questions a day", "Spending", "Queue</h2>", "Models in force"):
        assert hidden not in page


def test_recent_actions_say_what_was_done(root: Client, cast: Cast) -> None:
    form: dict[str, object] = {"name": "Renamed"}
    for part in ("memberships", "quota"):
        form |= {f"{part}-TOTAL_FORMS": 0, f"{part}-INITIAL_FORMS": 0}
    assert root.post(f"/admin/accounts/workspace/{cast.team.pk}/change/", form).status_code == 302
    page = " ".join(re.sub("<[^>]+>", " ", root.get("/admin/").content.decode()).split())
    assert "Changed workspace Renamed" in page


def test_figures_are_kept_for_some_seconds(root: Client, cast: Cast) -> None:
    first = module.figures()
    indexed_document(cast.team)
    assert module.figures() == first


def test_plots_are_scaled_to_the_largest_day() -> None:
    days = [
        RunDay(datetime(2026, 11, day, tzinfo=UTC).date(), day, 1, 0, day / 10, day / 5) for day in (1, 4)
    ]
    plot = RunPlot.of(days)
    assert (plot.highest, plot.total) == (5, 7)
    assert [(bar.lower, bar.upper) for bar in plot.bars] == [("20.00", "20.00"), ("80.00", "20.00")]
    latency = LatencyPlot.of([*days, RunDay(days[0].day)])
    assert latency.highest == 0.8
    assert (latency.medians, latency.tails) == ("0.5,87.50 1.5,50.00", "0.5,75.00 1.5,0.00")
    assert RunPlot.of([RunDay(days[0].day)]).bars[0].lower == "0.00"
