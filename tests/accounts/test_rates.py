"""Rates: never more than allowed, whatever the processes; what replies say of them; and whose they are."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.access.keys import create_key
from accounts.models import RateBucket
from accounts.quotas import rates
from accounts.quotas.rates import RateStanding, SharedRates, shared_rates
from accounts.quotas.sweeping import delete_empty_rate_buckets
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.live import environment, live_server
from tests.testing.paths import ROOT

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _as_a_new_process() -> Iterator[None]:
    shared_rates.forget()
    yield
    shared_rates.forget()


def used(process: SharedRates, times: int, limit: int, who: str = "somebody") -> list[RateStanding]:
    return [process.use("requests", who, limit) for _ in range(times)]


def allowed(standings: list[RateStanding]) -> int:
    return sum(not standing.is_exceeded for standing in standings)


class TestBuckets:
    def test_a_minutes_worth_at_once_and_then_a_steady_pace(self) -> None:
        standings = used(SharedRates(), 7, 5)
        assert [standing.remaining for standing in standings] == [4, 3, 2, 1, 0, 0, 0]
        assert [standing.is_exceeded for standing in standings] == [False] * 5 + [True] * 2
        assert 1 <= standings[-1].retry_secs <= 12
        assert 40 <= standings[-1].reset_secs <= 60
        # Time passes.
        with connection.cursor() as cursor:
            cursor.execute("UPDATE accounts_ratebucket SET empty_at = empty_at - interval '12 seconds'")
        assert allowed(used(SharedRates(), 3, 5)) == 1

    def test_processes_agree(self) -> None:
        one, other = SharedRates(), SharedRates()
        assert allowed(used(one, 3, 5)) + allowed(used(other, 3, 5)) == 5

    def test_leases_grow_and_what_is_left_is_given_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        taken: list[tuple[int, int]] = []
        take = rates._take

        def count(name: str, who: str, limit: int, wanted: int, given_back: int) -> tuple[int, float]:
            taken.append((wanted, given_back))
            return take(name, who, limit, wanted, given_back)

        class Clock:
            now = 1000.0

            def monotonic(self) -> float:
                return self.now

        clock = Clock()
        monkeypatch.setattr(rates, "time", clock)
        monkeypatch.setattr(rates, "_take", count)
        process = SharedRates()
        used(process, 100, 3000)
        assert taken == [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (32, 0), (50, 0)]
        clock.now += rates.LEASE_SECS
        assert used(process, 1, 3000)[0].remaining >= 2800
        assert taken[-1] == (37, 13)
        clock.now += 2 * rates.LEASE_SECS + 0.1
        used(process, 1, 3000)
        assert taken[-1] == (1, 36)

    def test_a_lease_is_never_more_than_there_is(self) -> None:
        process, other, begun = SharedRates(), SharedRates(), time.monotonic()
        standings = used(process, 300, 200)
        secs = time.monotonic() - begun
        assert 200 <= allowed(standings) + allowed(used(other, 10, 200)) <= 201 + 200 * (secs + 1) / 60

    def test_who_is_counted_apart(self) -> None:
        process = SharedRates()
        assert allowed(used(process, 6, 5, "alice")) == 5
        assert allowed(used(process, 6, 5, "bob")) == 5
        assert not RateBucket.objects.filter(key__contains="alice").exists()

    def test_another_limit_begins_anew(self) -> None:
        process = SharedRates()
        used(process, 6, 5)
        assert allowed(used(process, 8, 7)) == 7

    def test_the_table_is_not_logged(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'accounts_ratebucket'")
            assert cursor.fetchone() == ("u",)

    def test_empty_buckets_are_deleted(self) -> None:
        used(SharedRates(), 1, 5, "lately")
        used(SharedRates(), 1, 5, "long ago")
        old = RateBucket.objects.latest("empty_at")
        RateBucket.objects.filter(pk=old.pk).update(empty_at=timezone.now() - timedelta(seconds=1))
        delete_empty_rate_buckets(0)
        assert RateBucket.objects.count() == 1

    def test_a_process_forgets_ended_leases(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rates, "MOST_BUCKETS", 3)
        monkeypatch.setattr(rates, "LEASE_SECS", 0)
        process = SharedRates()
        for number in range(10):
            used(process, 1, 5, str(number))
        assert len(process._leases) <= 3


@pytest.mark.django_db(transaction=True)
class TestTogether:
    def test_threads(self) -> None:
        process = SharedRates()
        results: list[RateStanding] = []

        def use(_: int) -> None:
            results.extend(used(process, 20, 100))
            connection.close()

        begun = time.monotonic()
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(use, range(10)))
        assert 100 <= allowed(results) <= 101 + (time.monotonic() - begun) * 100 / 60

    def test_two_processes_never_allow_more_together(self) -> None:
        """Each tries for four seconds, as fast as it can."""
        program = """
import sys, time, django
django.setup()
from accounts.quotas.rates import SharedRates
process, end, count = SharedRates(), time.time() + 4, 0
while time.time() < end:
    count += not process.use("requests", sys.argv[1], 1200).is_exceeded
print(count)
"""
        begun = time.monotonic()
        command = [sys.executable, "-c", program, str(uuid4())]
        both = [
            subprocess.Popen(command, env=environment(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        counts = [int(process.communicate()[0].splitlines()[-1]) for process in both]
        secs = time.monotonic() - begun
        # A minute's worth at once, and what time has added since.
        assert 1200 <= sum(counts) <= 1200 + secs * 1200 / 60
        assert all(counts)

    def test_two_web_servers_agree(self) -> None:
        key = create_key(make_cast().alice, "program")[1]
        statuses: Counter[int] = Counter()
        lock = threading.Lock()

        def ask(url: str) -> None:
            with httpx.Client(headers={"X-API-KEY": key}) as client:
                for _ in range(40):
                    reply = client.get(f"{url}/api/v1/me")
                    with lock:
                        statuses[reply.status_code] += 1

        with live_server(REQUESTS_PER_MINUTE="60") as one, live_server(REQUESTS_PER_MINUTE="60") as other:
            begun = time.monotonic()
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(ask, [one.url, other.url]))
            secs = time.monotonic() - begun
        assert statuses[200] + statuses[429] == 80
        assert 60 <= statuses[200] <= 61 + secs


class TestReplies:
    def get(self, cast: Cast, path: str = "me", name: str = "alice", **headers: str) -> Any:
        return Client().get(f"/api/v1/{path}", headers=cast.headers(name, **headers))

    def test_every_reply_says_what_is_left(self, cast: Cast, settings: Settings) -> None:
        settings.REQUESTS_PER_MINUTE = 3
        replies = [self.get(cast, path) for path in ("me", f"documents/{uuid4()}", "me", "me")]
        assert [reply.status_code for reply in replies] == [200, 404, 200, 429]
        assert [reply["RateLimit-Remaining"] for reply in replies] == ["2", "1", "0", "0"]
        assert {reply["RateLimit-Limit"] for reply in replies} == {"3"}
        assert [int(reply["RateLimit-Reset"]) for reply in replies] == pytest.approx([20, 40, 60, 60], abs=15)
        refused = replies[-1]
        error = refused.json()["error"]
        assert error["code"] == "rate_limited"
        assert 1 <= error["details"]["retry_after_secs"] == int(refused["Retry-After"]) <= 20
        assert "at most 3 a minute" in error["message"]

    def test_a_key_its_user_and_others_have_rates_of_their_own(self, cast: Cast, settings: Settings) -> None:
        settings.REQUESTS_PER_MINUTE = 1
        assert [self.get(cast).status_code for _ in range(2)] == [200, 429]
        assert self.get(cast, name="bob").status_code == 200
        browser = Client()
        browser.force_login(cast.alice)
        assert browser.get("/api/v1/me").status_code == 200
        assert browser.get("/api/v1/me").status_code == 429
        again = Client()
        again.force_login(cast.alice)
        assert again.get("/api/v1/me").status_code == 429

    def test_no_limit(self, cast: Cast, settings: Settings) -> None:
        settings.REQUESTS_PER_MINUTE = 0
        assert "RateLimit-Limit" not in self.get(cast)

    def test_an_external_user_has_a_share(self, cast: Cast, settings: Settings) -> None:
        settings.REQUESTS_PER_MINUTE, settings.EXTERNAL_USER_SHARE = 10, 0.3
        one = [self.get(cast, **{"X-External-User-Id": "x"}) for _ in range(5)]
        assert [reply.status_code for reply in one] == [200, 200, 200, 429, 429]
        assert [reply["RateLimit-Limit"] for reply in one] == ["3"] * 5
        # Its refused requests took nothing from the others.
        assert self.get(cast)["RateLimit-Remaining"] == "6"
        assert self.get(cast, **{"X-External-User-Id": "y"}).status_code == 200

    def test_refused_without_a_right_counts_too(self, cast: Cast, settings: Settings) -> None:
        settings.REQUESTS_PER_MINUTE = 1
        key = create_key(cast.alice, "reader", scopes=["read"])[1]
        statuses = [Client().get("/api/v1/api-keys", headers={"X-API-KEY": key}).status_code for _ in "ab"]
        assert statuses == [403, 429]

    def test_questions_and_searches(self, cast: Cast, settings: Settings) -> None:
        settings.RUNS_PER_MINUTE = 2
        body = json.dumps({"query": "Who?"})
        second = create_key(cast.alice, "second")[1]
        replies = [
            Client().post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)
            for path, headers in [
                ("search", cast.headers("alice")),
                ("search", {"X-API-KEY": second}),
                ("search", cast.headers("alice")),
                ("tools/rag_search", {"X-API-KEY": second}),
                ("search", cast.headers("bob")),
            ]
        ]
        assert [reply.status_code for reply in replies] == [200, 200, 429, 429, 200]
        assert replies[2].json()["error"]["code"] == "rate_limited"
        assert replies[2]["RateLimit-Limit"] == "2"
        assert 1 <= int(replies[2]["Retry-After"]) <= 30

    def test_pages_that_are_drawn(self, cast: Cast, settings: Settings) -> None:
        settings.PAGE_IMAGES_PER_MINUTE = 1
        document = indexed_document(cast.team)
        widths = [90, 90, 91]
        replies = [self.get(cast, f"documents/{document.pk}/pages/1?width={width}") for width in widths]
        assert [reply.status_code for reply in replies] == [200, 200, 429]
