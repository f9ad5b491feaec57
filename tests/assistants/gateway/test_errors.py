"""Errors in OpenAI's form: each of ours has a type, and says whether another attempt makes sense."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from assistants.gateway.errors import error_response
from core import errors
from tests.conftest import Cast

ASKED = {"model": "locus", "input": "Who owns the farm?", "tools": [{"type": "rag_search"}]}


def ask(cast: Cast, body: Any = ASKED, **headers: str) -> Any:
    sent = cast.headers("alice", **headers)
    return Client().post("/v1/responses", body, content_type="application/json", headers=sent)


@pytest.mark.parametrize(
    ("error", "status", "type", "code", "retries"),
    [
        (errors.ValidationError("x", param="input"), 400, "invalid_request_error", "validation_error", None),
        (errors.Unauthenticated(), 401, "authentication_error", "unauthenticated", None),
        (errors.BudgetExceeded(), 402, "budget_exceeded", "budget_exceeded", "false"),
        (errors.ToolDisabled(), 403, "permission_error", "tool_disabled", None),
        (errors.NotFound(), 404, "not_found_error", "not_found", None),
        (errors.IdempotencyConflict(), 409, "conflict_error", "idempotency_conflict", "false"),
        (errors.TooLarge(), 413, "invalid_request_error", "too_large", None),
        (errors.RateLimited(retry_after=3), 429, "rate_limit_error", "rate_limit_exceeded", None),
        (errors.ProviderError(), 502, "server_error", "server_error", "false"),
        (errors.Overloaded(), 503, "server_error", "overloaded", None),
        (errors.Timeout(), 504, "server_error", "upstream_timeout", None),
    ],
)
def test_each_error(error: errors.LocusError, status: int, type: str, code: str, retries: str | None) -> None:
    response = error_response(error)
    told = response.data["error"]
    assert (response.status_code, told["type"], told["code"]) == (status, type, code)
    assert (told["message"], told["param"]) == (error.message, error.param)
    assert response.headers.get("x-should-retry") == retries


def test_a_quota_is_not_tried_again() -> None:
    until = datetime.now(UTC) + timedelta(hours=1)
    error = errors.QuotaExceeded(quota="questions", limit=1, used=1, resets_at=until)
    response = error_response(error)
    assert (response.status_code, response["x-should-retry"]) == (429, "false")
    assert 3500 < int(response["Retry-After"]) <= 3600


def test_rates_count_here_too(cast: Cast, settings: Settings) -> None:
    settings.REQUESTS_PER_MINUTE = 1
    replies = [ask(cast, ASKED | {"input": " "}) for _ in range(3)]
    limited = replies[-1]
    assert (limited.status_code, limited.json()["error"]["type"]) == (429, "rate_limit_error")
    assert int(limited["Retry-After"]) > 0


@pytest.mark.django_db(transaction=True)
def test_a_key_of_idempotency_runs_once(cast: Cast) -> None:
    once, again = (ask(cast, **{"Idempotency-Key": "1"}) for _ in range(2))
    assert once.json()["id"] == again.json()["id"]
    other = ask(cast, ASKED | {"input": "Who else?"}, **{"Idempotency-Key": "1"})
    assert (other.status_code, other["x-should-retry"]) == (409, "false")


def test_what_is_no_json(cast: Cast) -> None:
    for body in ("{", "[]", '{"input": "\\u0000", "model": "locus"}'):
        reply = ask(cast, body)
        assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")


def test_another_method(cast: Cast) -> None:
    reply = Client().get("/v1/responses", headers=cast.headers("alice"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (405, "method_not_allowed")
    assert Client().get("/v1/nothing").json()["error"]["code"] == "not_found"
