"""Whether a process lives, and whether it may be used."""

from __future__ import annotations

import threading

import pytest
from django.db import DatabaseError
from django.test import Client

from core.process import readiness
from locus import health
from locus.health import DatabaseProbe


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> DatabaseProbe:
    """A probe that knows nothing yet."""
    probe = DatabaseProbe(lambda: health.has_live_worker())
    monkeypatch.setattr(health, "_probe", probe)
    return probe


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "are_models_loaded", lambda: True)


def test_a_process_lives_whatever_its_database_does(db: None, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        reply = Client().get("/healthz")
    assert (reply.status_code, reply.json()) == (200, {"status": "ok"})


def test_a_process_is_ready_without_a_worker(db: None, loaded: None) -> None:
    reply = Client().get("/readyz")
    assert reply.status_code == 200
    assert reply.json() == {"status": "ok", "database": "ok", "models": "loaded", "worker": "absent"}


def test_a_process_that_still_loads_models_is_not_ready(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "are_models_loaded", lambda: False)
    reply = Client().get("/readyz")
    assert (reply.status_code, reply.json()["models"]) == (503, "loading")


def test_a_process_that_drains_is_not_ready(db: None, loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness._draining, "is_set", lambda: True)
    reply = Client().get("/readyz")
    assert (reply.status_code, reply.json()["status"]) == (503, "draining")


def test_a_process_without_its_database_is_not_ready(loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> bool:
        raise DatabaseError

    monkeypatch.setattr(health, "has_live_worker", fail)
    reply = Client().get("/readyz")
    assert (reply.status_code, reply.json()["database"]) == (503, "unreachable")


# --- Calm --------------------------------------------------------------------------------------------------


class Clock:
    """A clock that stands until it is set on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("locus.health.time.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


class Database:
    """Counts the questions; `is_there` says how it answers."""

    def __init__(self) -> None:
        self.asked, self.is_there = 0, True

    def ask(self) -> bool:
        self.asked += 1
        if not self.is_there:
            raise DatabaseError
        return True


def test_an_answer_serves_all_probes_of_two_seconds(clock: Clock) -> None:
    database = Database()
    probe = DatabaseProbe(database.ask)
    assert all(probe.look().is_reachable for _ in range(50))
    assert database.asked == 1
    clock.now += 2
    assert probe.look().has_worker
    assert database.asked == 2


def test_a_database_that_is_away_for_seconds_takes_no_process_away(clock: Clock) -> None:
    """One lost packet made every process of an installation unready at once."""
    database = Database()
    probe = DatabaseProbe(database.ask)
    probe.look()
    database.is_there = False
    clock.now += 5
    state = probe.look()
    assert (state.is_reachable, state.is_usable) == (False, True)
    clock.now += 6
    assert not probe.look().is_usable
    database.is_there = True
    clock.now += 2
    assert probe.look().is_usable


def test_a_database_that_never_was_there_is_not_tolerated() -> None:
    database = Database()
    database.is_there = False
    assert not DatabaseProbe(database.ask).look().is_usable


def test_a_database_that_does_not_answer_holds_up_no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each probe held a thread of the server until the pool gave up after half a minute."""
    monkeypatch.setattr(health, "LONGEST_SECS", 0.05)
    monkeypatch.setattr(health, "FRESH_SECS", 0.0)
    answer, asked = threading.Event(), []

    def hang() -> bool:
        asked.append(threading.current_thread())
        answer.wait()
        return True

    probe = DatabaseProbe(hang)
    assert [probe.look().is_usable for _ in range(5)] == [False] * 5
    assert len(asked) == 1
    answer.set()
    asked[0].join()
    assert probe.look().is_usable
