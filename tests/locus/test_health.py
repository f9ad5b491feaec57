"""Whether a process lives, and whether it may be used."""

from __future__ import annotations

import pytest
from django.db import DatabaseError
from django.test import Client

from core.process import readiness
from locus import health


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
