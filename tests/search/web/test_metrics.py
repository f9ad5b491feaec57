"""Metrics: the names that dashboards rely on, who may read them, and that none of them can fail a search."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from accounts.access.keys import create_key
from accounts.ledger.base import Payer
from accounts.models.ledger import Balance
from core.errors import BudgetExceeded
from search.web import metrics
from search.web.base import Outcome, Provider, ProviderFailed, SearchHits, WebQuery
from search.web.breaker import FAILURES, BreakerOpen
from search.web.provider_call import call_provider
from search.web.providers.registry import PROVIDERS
from tests.conftest import Cast, make_cast
from tests.testing.live import environment
from tests.testing.paths import ROOT

TOKEN = "a token for the collector"
Sample = tuple[str, tuple[tuple[str, str], ...]]


@pytest.fixture(autouse=True)
def _token(settings: Settings) -> None:
    settings.METRICS_TOKEN = TOKEN


def scraped(accept: str = "*/*") -> Any:
    return Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}", "Accept": accept})


def samples() -> dict[Sample, float]:
    families = text_string_to_metric_families(scraped().content.decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def sample(name: str, **labels: str) -> Sample:
    return name, tuple(sorted(labels.items()))


class Changes:
    """What has changed since it was made; counters are never set back."""

    def __init__(self) -> None:
        self._before = samples()

    def of(self, prefix: str) -> dict[Sample, float]:
        now = samples()
        changed = {key: value - self._before.get(key, 0.0) for key, value in now.items()}
        return {key: change for key, change in changed.items() if key[0].startswith(prefix) and change}


@dataclass
class Scripted(Provider):
    """A provider that finds nothing, or fails as it is told to."""

    failure: Exception | None = None
    name: ClassVar[str] = "brave"
    label: ClassVar[str] = "Brave"
    price: ClassVar[Decimal] = Decimal("0.005")

    @classmethod
    def configured(cls) -> Self | None:
        return cls()

    async def search(self, query: WebQuery) -> SearchHits:
        if self.failure:
            raise self.failure
        return SearchHits(())


# --- What is counted ---------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
class TestAttempts:
    @pytest.fixture
    def payer(self) -> Payer:
        return Payer(make_cast().team.pk)

    async def attempt(self, payer: Payer, failure: Exception | None = None) -> None:
        try:
            await call_provider(Scripted(failure), WebQuery("tea", 5), payer)
        except (ProviderFailed, BudgetExceeded) as error:
            assert error is failure or isinstance(error, BreakerOpen | BudgetExceeded)

    async def test_each_attempt_is_counted_by_how_it_ended(self, payer: Payer) -> None:
        changes = await sync_to_async(Changes)()
        await self.attempt(payer)
        for _ in range(FAILURES):
            await self.attempt(payer, ProviderFailed(Outcome.UNAVAILABLE, "down"))
        await self.attempt(payer)
        assert await sync_to_async(changes.of)("kb_web_search_calls") == {
            sample("kb_web_search_calls_total", provider="brave", result="ok"): 1,
            sample("kb_web_search_calls_total", provider="brave", result="error"): 5,
            sample("kb_web_search_calls_total", provider="brave", result="unavailable"): 1,
        }
        assert await sync_to_async(changes.of)("kb_web_search_breaker") == {
            sample("kb_web_search_breaker_open_total", provider="brave"): 1
        }
        # Only what left the process has a latency.
        assert await sync_to_async(changes.of)("kb_web_search_latency_ms_count") == {
            sample("kb_web_search_latency_ms_count", provider="brave"): 6
        }
        assert (await sync_to_async(samples)())[
            sample("kb_circuit_breaker_state", breaker="web_search:brave")
        ] == 2
        assert (await Balance.unscoped.aget(workspace=None)).total == Decimal("0.005")

    async def test_what_nobody_pays_for_is_no_attempt(self, payer: Payer, settings: Settings) -> None:
        settings.MAX_COST = Decimal(0)
        changes = await sync_to_async(Changes)()
        await self.attempt(payer)
        assert await sync_to_async(changes.of)("kb_web_search") == {}

    async def test_a_metric_that_can_not_be_written_fails_no_search(
        self, payer: Payer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Broken:
            def labels(self, *values: str) -> None:
                raise OSError("No space left on device")

        for name in ("_calls", "_cache", "_breaker_open", "_latency"):
            monkeypatch.setattr(metrics, name, Broken())
        found = await call_provider(Scripted(), WebQuery("tea", 5), payer)
        metrics.count_look_up("brave", hit=True)
        metrics.count_call("brave", "unavailable")
        assert found == SearchHits(())
        assert [record.message for record in caplog.records] == ["A metric can't be written."] * 4


def test_the_cache_is_counted_by_hit(db: None) -> None:
    changes = Changes()
    metrics.count_look_up("brave", hit=True)
    metrics.count_look_up("brave", hit=False)
    metrics.count_look_up("brave", hit=False)
    assert changes.of("kb_web_search_cache") == {
        sample("kb_web_search_cache_total", provider="brave", hit="true"): 1,
        sample("kb_web_search_cache_total", provider="brave", hit="false"): 2,
    }


# --- What is scraped ---------------------------------------------------------------------------------------


def test_every_breaker_has_a_state_also_one_that_was_never_in_trouble(db: None) -> None:
    names = {f"web_search:{provider}" for provider in PROVIDERS}
    found = {labels[0][1]: value for (name, labels), value in samples().items() if "circuit" in name}
    assert found == dict.fromkeys(names, 0)


@pytest.fixture
def no_table(transactional_db: None) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE search_breaker RENAME TO elsewhere")
        yield
        cursor.execute("ALTER TABLE elsewhere RENAME TO search_breaker")


@pytest.mark.usefixtures("no_table")
def test_without_the_database_the_other_metrics_are_told() -> None:
    metrics.count_look_up("brave", hit=True)
    names = {name for name, _ in samples()}
    assert "kb_web_search_cache_total" in names
    assert "kb_circuit_breaker_state" not in names


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("text/plain", "text/plain"),
        ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", "application/openmetrics-text"),
        ("application/json", "text/plain"),
    ],
)
def test_collectors_get_the_format_they_ask_for(db: None, accept: str, content_type: str) -> None:
    response = scraped(accept)
    assert (response.status_code, response.headers["Content-Type"].split(";")[0]) == (200, content_type)


def test_processes_can_share_their_counters(transactional_db: None, tmp_path: Path) -> None:
    """With `PROMETHEUS_MULTIPROC_DIR`, whichever process is asked answers for all."""
    count = "metrics.count_call('brave', 'ok')"
    scrape = (
        "from django.test import Client\n"
        "print(Client().get('/metrics', headers={'Authorization': 'Bearer t'}).content.decode())"
    )
    setup = "import django; django.setup()\nfrom search.web import metrics\n"
    shared = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "METRICS_TOKEN": "t", "ALLOWED_HOSTS": "testserver"}
    told = [
        subprocess.run(
            [sys.executable, "-c", setup + "\n".join(what)],
            cwd=ROOT,
            env=environment() | shared,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for what in ([count, count], [count, scrape])
    ]
    assert 'kb_web_search_calls_total{provider="brave",result="ok"} 3.0' in told[1]
    assert 'kb_circuit_breaker_state{breaker="web_search:brave"} 0.0' in told[1]
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ


# --- Who may read them -------------------------------------------------------------------------------------


def status(**headers: str) -> int:
    return int(Client().get("/metrics", headers=headers).status_code)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_strangers_and_members_see_none(cast: Cast) -> None:
    assert status() == 401
    assert status(**bearer("a guess")) == 401
    assert status(**bearer(TOKEN + "x")) == 401
    assert status(**cast.headers("alice")) == 403


def test_staff_see_them_logged_in_or_with_a_key_that_may_administrate(cast: Cast) -> None:
    cast.alice.is_staff = True
    cast.alice.save()
    client = Client()
    client.force_login(cast.alice)
    assert client.get("/metrics").status_code == 200
    assert status(**cast.headers("alice")) == 200
    _, reader = create_key(cast.alice, "reader", scopes=["read", "write"])
    assert status(**bearer(reader)) == 403
    assert status(**cast.headers("alice", **{"X-External-User-Id": "x"})) == 403


def test_without_a_token_no_token_is_right(cast: Cast, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    assert status(**bearer("")) == 401
    assert status() == 401


def test_the_token_opens_nothing_else(db: None) -> None:
    assert Client().get("/api/v1/me", headers=bearer(TOKEN)).status_code == 401
