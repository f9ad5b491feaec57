"""What pages show of the web's use: sums that agree with the ledger, engines in trouble, and who sees it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User, Workspace
from accounts.models.ledger import Balance, Charge, Purpose
from search.models import Breaker
from search.web.breaker import State, configuration_of
from search.web.providers.registry import PROVIDERS, kind_of
from search.web.usage.health import engine_healths, unconfigured_names
from search.web.usage.spent import Day, SpendingLimit, SpendingOverview, period
from tests.conftest import Cast
from tests.testing.paths import ROOT

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
KEY = "key-that-no-page-may-show"


def charge(
    workspace: Workspace | None,
    amount: str,
    *,
    provider: str = "brave",
    purpose: Purpose = Purpose.SEARCH,
    at: datetime = NOW,
    is_settled: bool = True,
) -> None:
    """Put a charge into the ledger, and the balances up."""
    row = Charge.unscoped.create(
        workspace=workspace,
        purpose=purpose,
        provider=provider,
        amount=Decimal(amount),
        settled_at=at if is_settled else None,
        lease_until=at,
    )
    Charge.unscoped.filter(pk=row.pk).update(created_at=at)
    for owner in {workspace, None}:
        balance, _ = Balance.unscoped.get_or_create(workspace=owner)
        balance.total += Decimal(amount)
        balance.save()


def page_of(client: Client, user: User, workspace: Workspace, **query: Any) -> str:
    client.force_login(user)
    reply = client.get(reverse("web_use", args=[workspace.pk]), query)
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


# --- Figures and places ------------------------------------------------------------------------------------


def test_bars_are_as_high_as_their_day_was_dear() -> None:
    days = (Day(date(2026, 3, 1), Decimal("0.30"), Decimal("0.10"), 9), Day(date(2026, 3, 2)))
    spent = SpendingOverview((*days, Day(date(2026, 3, 3), models=Decimal("0.20"))), (), ())
    assert spent.highest == Decimal("0.40")
    heights = [("75.00", "25.00"), ("0.00", "0.00"), ("0.00", "50.00")]
    assert [(bar.searches, bar.models) for bar in spent.bars] == heights


@pytest.mark.parametrize(
    ("total", "most", "share", "is_reached"),
    [
        ("1", None, "0%", False),
        ("1", "4", "25.0%", False),
        ("5", "4", "100.0%", True),
        ("0", "0", "100.0%", True),
    ],
)
def test_how_much_of_a_limit_is_used(total: str, most: str | None, share: str, is_reached: bool) -> None:
    limit = SpendingLimit(Decimal(total), None if most is None else Decimal(most))
    assert (limit.share, limit.is_reached) == (share, is_reached)


@pytest.mark.parametrize(
    ("given", "days"), [(None, 30), ("7", 7), ("90", 90), ("8", 30), ("x", 30), ("-7", 30)]
)
def test_only_some_periods_are_offered(given: str | None, days: int) -> None:
    assert period(given) == days


def test_sums_agree_with_the_ledger(cast: Cast) -> None:
    charge(cast.team, "0.005")
    charge(cast.team, "0.005", at=NOW - timedelta(days=1))
    charge(cast.team, "0.02", provider="claude", purpose=Purpose.MODEL, at=NOW - timedelta(days=1))
    charge(cast.team, "0.5", at=NOW - timedelta(days=7))
    charge(cast.team, "0.25", is_settled=False)
    charge(None, "0.01")
    spent = SpendingOverview.of(Charge.unscoped.all(), 7, NOW.date())
    assert [day.day.day for day in spent.days] == list(range(4, 11))
    before, today = spent.days[-2:]
    assert (before.searches, before.models, before.calls) == (Decimal("0.005"), Decimal("0.02"), 2)
    assert (today.cost, today.calls) == (Decimal("0.015"), 2)
    assert (spent.cost, spent.calls) == (Decimal("0.04"), 4)
    assert [(row.name, row.purpose, row.calls, row.share) for row in spent.by_provider] == [
        ("Brave", "search", 3, "50.0%"),
        ("claude", "model", 1, "50.0%"),
    ]
    shares = [(row.name, row.cost) for row in spent.by_workspace({cast.team.pk: "Team"})]
    assert shares == [("Team", Decimal("0.03")), ("deleted workspaces", Decimal("0.01"))]


# --- Search engines ----------------------------------------------------------------------------------------


@pytest.fixture
def configured(settings: Settings) -> None:
    settings.BRAVE_API_KEY = settings.TAVILY_API_KEY = settings.SERPAPI_KEY = KEY


def test_pages_call_the_engines_the_same() -> None:
    source = (ROOT / "frontend/src/web-providers.js").read_text("utf-8")
    named = dict(re.findall(r'^  (\w+): "(.+)",$', source, re.MULTILINE))
    assert named == {name: kind_of(name).label for name in PROVIDERS}


@pytest.mark.django_db
def test_engines_tell_how_they_do(configured: None) -> None:
    soon, late = NOW + timedelta(seconds=30), NOW + timedelta(minutes=40)
    Breaker.objects.create(name="web_search:brave", failures=2)
    refused = configuration_of("tavily")
    Breaker.objects.create(name="web_search:tavily", failures=1, is_tripped=True, refused=refused)
    Breaker.objects.create(name="web_search:serpapi", failures=5, is_tripped=True, open_until=late)
    Breaker.objects.create(name="web_search:duckduckgo", failures=5, is_tripped=True, open_until=soon)
    brave, tavily, serpapi, duckduckgo = engine_healths(NOW)
    assert (brave.label, brave.state, brave.failures, brave.tone) == ("Brave", State.CLOSED, 2, "warning")
    assert (tavily.state, tavily.is_refused, tavily.tone) == (State.OPEN, True, "bad")
    assert (serpapi.state, serpapi.is_refused, serpapi.wait) == (State.OPEN, False, "40\xa0minutes")
    assert duckduckgo.wait == "less than a minute"
    assert engine_healths(late)[2].state is State.HALF_OPEN
    assert (brave.price, duckduckgo.price) == (Decimal(5), Decimal(0))
    assert unconfigured_names() == ["Perplexity", "SearXNG", "Anthropic"]


@pytest.mark.django_db
def test_a_new_key_is_no_longer_refused(configured: None, settings: Settings) -> None:
    Breaker.objects.create(name="web_search:tavily", is_tripped=True, refused=configuration_of("tavily"))
    settings.TAVILY_API_KEY = "another"
    tavily = engine_healths(NOW)[1]
    assert (tavily.state, tavily.is_refused) == (State.HALF_OPEN, False)


# --- The page of a workspace -------------------------------------------------------------------------------


@pytest.mark.usefixtures("static_files")
def test_the_page_tells_of_its_workspace_alone(client: Client, cast: Cast) -> None:
    other = Workspace.create_for(cast.charlie, name="Other")
    now = timezone.now()
    charge(cast.team, "0.125", at=now)
    charge(other, "77", provider="serpapi", at=now)
    page = page_of(client, cast.alice, cast.team)
    assert "<strong>$0.125</strong> for 1 call in 30 days" in page
    assert "There is no limit for this workspace" in page
    assert "$77" not in page
    assert 'role="alert"' not in page


@pytest.mark.usefixtures("static_files")
def test_a_limit_is_shown_and_when_it_is_reached(client: Client, cast: Cast) -> None:
    cast.team.settings = {"web_search": {"enabled": True, "max_cost": 0.5}}
    cast.team.save()
    charge(cast.team, "0.125", at=timezone.now() - timedelta(days=40))
    page = page_of(client, cast.alice, cast.team)
    assert "<strong>$0.125</strong> of $0.50" in page
    assert "25.0% of the limit is used" in page
    assert "Nothing was spent in this time." in page
    assert "for 1 call in 90 days" in page_of(client, cast.alice, cast.team, days=90)
    charge(cast.team, "0.375", at=timezone.now())
    assert "The limit is reached" in page_of(client, cast.alice, cast.team)


@pytest.mark.usefixtures("static_files")
def test_pages_show_no_key_and_no_digest_of_one(client: Client, cast: Cast, configured: None) -> None:
    refused = configuration_of("tavily")
    Breaker.objects.create(name="web_search:tavily", failures=1, is_tripped=True, refused=refused)
    page = page_of(client, cast.alice, cast.team)
    assert "Key refused" in page
    client.force_login(User.objects.create_superuser("root@example.org"))
    names = ["kb_charge_changelist", "search_breaker_changelist"]
    pages = [page, *(client.get(reverse(f"admin:{name}")).content.decode() for name in names)]
    pages.append(
        client.get(reverse("admin:search_breaker_change", args=["web_search:tavily"])).content.decode()
    )
    for each in pages:
        assert "avily" in each
        assert KEY not in each
        assert refused not in each


@pytest.mark.usefixtures("static_files")
def test_where_the_web_is_switched_off_for_all_no_engine_is_named(
    client: Client, cast: Cast, settings: Settings
) -> None:
    settings.WEB_TOOLS = False
    page = page_of(client, cast.alice, cast.team)
    assert "The web is switched off on this server" in page
    assert "DuckDuckGo" not in page


# --- The admin panel ---------------------------------------------------------------------------------------


@pytest.fixture
def staff(cast: Cast, static_files: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.org"))
    return client


def test_operators_see_what_all_spend(staff: Client, cast: Cast, settings: Settings) -> None:
    settings.MAX_COST = Decimal(4)
    now = timezone.now()
    charge(cast.team, "0.75", at=now)
    charge(cast.bob.personal_workspace, "0.25", at=now)
    page = " ".join(staff.get(reverse("admin:kb_charge_changelist")).content.decode().split())
    assert "<strong>$1.00</strong> of $4.00" in page
    assert '<td>Team</td><td class="number">1</td><td class="number">$0.75</td>' in page
    assert "Personal (bob@example.org)" in page


def test_the_ledger_can_be_looked_at_and_nothing_else(staff: Client, cast: Cast) -> None:
    charge(cast.team, "0.75", at=timezone.now())
    row = Charge.unscoped.get()
    for action in ("change", "delete"):
        address = reverse(f"admin:kb_charge_{action}", args=[row.pk])
        assert staff.post(address, {"amount": "0", "post": "yes"}).status_code == 403
    assert staff.get(reverse("admin:kb_charge_add")).status_code == 403
    assert Charge.unscoped.get().amount == Decimal("0.75")


def test_an_engine_is_asked_again_once_its_trouble_is_forgotten(staff: Client) -> None:
    Breaker.objects.create(
        name="web_search:duckduckgo", failures=5, is_tripped=True, open_until=timezone.now()
    )
    staff.post(reverse("admin:search_breaker_delete", args=["web_search:duckduckgo"]), {"post": "yes"})
    assert not Breaker.objects.exists()
    assert [each.tone for each in engine_healths(timezone.now())] == ["good"]


def test_a_workspace_that_has_spent_can_be_deleted(staff: Client, cast: Cast) -> None:
    charge(cast.team, "0.75", at=timezone.now())
    reply = staff.post(
        reverse("admin:accounts_workspace_delete", args=[cast.team.pk]),
        {"post": "yes", "name": cast.team.name},
    )
    assert reply.status_code == 302
    assert not Workspace.objects.filter(pk=cast.team.pk).exists()
    assert Charge.unscoped.get().workspace is None
