"""Every error of a request, with its code and HTTP status (contract §3), and what documents fail with.

CodedError
├── DocumentError: `core.fetch.errors`, `extract.errors`
└── LocusError
    ├── ValidationError 400 ── UnknownField, InvalidJson, Conflict, PasswordRequired, WrongPassword
    ├── Unauthenticated 401
    ├── BudgetExceeded 402
    ├── Forbidden 403 ── ToolDisabled
    ├── NotFound 404
    ├── MethodNotAllowed 405
    ├── Cancelled, IdempotencyConflict 409
    ├── EventsExpired 410
    ├── PreconditionFailed 412
    ├── TooLarge 413
    ├── UnsupportedMediaType 415
    ├── RangeNotSatisfiable 416
    ├── RateLimited 429 ── QuotaExceeded
    ├── ProviderError 502
    ├── Overloaded 503
    └── Timeout 504 ── RequestTimeout 408

One handler per transport turns them into its own form: `core.api.rest.exception_handler`,
`core.http.error_pages`, `runs.transports.websocket`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar


class CodedError(Exception):
    """An error with a stable code for callers; its message says what to do next."""

    code: ClassVar[str]
    default_message: ClassVar[str]

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.default_message
        super().__init__(self.message)


class DocumentError(CodedError):
    """A document can't be fetched or read (contract §4).

    Another attempt would fail in the same way. Failures that may pass (a lost database connection) are not a
    `DocumentError`; `ingestion.jobs.Retries` decides what is retried.
    """


class LocusError(CodedError):
    """A request fails."""

    status: ClassVar[int]

    def __init__(
        self,
        message: str | None = None,
        *,
        param: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.param = param
        self.details = details

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers for this error."""
        return {}

    def as_json(self) -> dict[str, Any]:
        """Return the body `{"error": {"code", "message", "param"?, "details"?}}` of contract §3."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.param is not None:
            error["param"] = self.param
        if self.details is not None:
            error["details"] = self.details
        return {"error": error}


class ValidationError(LocusError):
    """A value in the request is invalid; `param` names it."""

    code, status, default_message = "validation_error", 400, "The request is not valid."


class InvalidJson(ValidationError):
    """The body is not JSON."""

    code, default_message = "invalid_json", "The body is not valid JSON."


class UnknownField(ValidationError):
    """A field that the endpoint does not know: refused, because a misspelt filter must not widen a search."""

    code, default_message = "unknown_field", "The request has a field this endpoint does not know."


class Conflict(ValidationError):
    """Two values in the request contradict each other."""

    code, default_message = "conflict", "The request names the same thing twice with different values."


class PasswordRequired(ValidationError):
    """The file opens only with a password, and none was sent."""

    code, default_message = "password_required", "The file is protected. Send its password."


class WrongPassword(ValidationError):
    """The password that was sent does not open the file."""

    code, default_message = "wrong_password", "This password does not open the file. Try again."


class Unauthenticated(LocusError):
    """No credentials, or an unknown, expired or revoked key."""

    code, status, default_message = "unauthenticated", 401, "Log in, or send a valid API key."

    @property
    def headers(self) -> dict[str, str]:
        """The challenge that a 401 must carry."""
        return {"WWW-Authenticate": "Bearer"}


class BudgetExceeded(LocusError):
    """A call that costs money would exceed the budget; cached and free calls are still possible."""

    code, status, default_message = "budget_exceeded", 402, "The budget is spent. Raise max_cost."


class Forbidden(LocusError):
    """The caller sees the object but may not do this to it."""

    code, status, default_message = "forbidden", 403, "You may not do this."


class ToolDisabled(Forbidden):
    """The workspace has not switched the tool on."""

    code = "tool_disabled"
    default_message = (
        "This tool is switched off here. An admin of the workspace can switch it on in its settings."
    )


class NotFound(LocusError):
    """The object does not exist or is invisible to the caller; the error must not show which."""

    code, status, default_message = "not_found", 404, "Not found, or not visible to you."


class MethodNotAllowed(LocusError):
    """The path exists, the method does not."""

    code, status, default_message = "method_not_allowed", 405, "This method is not allowed here."


class Cancelled(LocusError):
    """Somebody cancelled the execution."""

    code, status, default_message = "cancelled", 409, "The execution was cancelled."


class IdempotencyConflict(LocusError):
    """An `Idempotency-Key` was sent again with another body."""

    code, status, default_message = (
        "idempotency_conflict",
        409,
        "This Idempotency-Key was used for another request.",
    )


class EventsExpired(LocusError):
    """The stored events are older than the retention."""

    code, status, default_message = "events_expired", 410, "These events are no longer kept."


class PreconditionFailed(LocusError):
    """The object has changed since the caller read it."""

    code, status, default_message = (
        "precondition_failed",
        412,
        "This has changed since you read it. Read it again, then repeat your change.",
    )


class TooLarge(LocusError):
    """The body or a file exceeds the limit."""

    code, status, default_message = "too_large", 413, "The upload is larger than this server accepts."


class UnsupportedMediaType(LocusError):
    """The endpoint does not accept the request's content type."""

    code, status, default_message = "unsupported_media_type", 415, "This content type is not accepted here."


class RangeNotSatisfiable(LocusError):
    """The requested part of a file lies outside it."""

    code, status, default_message = "range_not_satisfiable", 416, "The file has no such part."


class RateLimited(LocusError):
    """Too many requests, or too much at once; `Retry-After` says when to try again.

    `retry_after` is in seconds; `limit` is the allowed number, if it is a plain number; after `reset_after`
    seconds, by default `retry_after`, all of it is allowed again.
    """

    code, status, default_message = "rate_limited", 429, "Too many requests. Try again later."

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: int = 10,
        limit: int | None = None,
        reset_after: int | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        self.retry_after, self.limit, self.reset_after = retry_after, limit, reset_after or retry_after
        super().__init__(message, details={"retry_after_secs": retry_after} | (details or {}))

    @property
    def headers(self) -> dict[str, str]:
        """`Retry-After`, and the `RateLimit-*` headers where a number is the limit."""
        seconds = str(self.retry_after)
        if self.limit is None:
            return {"Retry-After": seconds}
        numbers = {"Limit": str(self.limit), "Remaining": "0", "Reset": str(self.reset_after)}
        return {"Retry-After": seconds} | {f"RateLimit-{name}": value for name, value in numbers.items()}


class QuotaExceeded(RateLimited):
    """More of something than one workspace may have; `Retry-After` says when to try again.

    `resets_at` is when time makes room; without it, something has to be deleted or finished.
    """

    code, default_message = "quota_exceeded", "This workspace has reached its limit. Try again later."

    def __init__(
        self,
        message: str | None = None,
        *,
        quota: str,
        limit: int,
        used: int,
        resets_at: datetime | None = None,
        retry_after: int = 10,
    ) -> None:
        if resets_at is not None:
            retry_after = max(1, math.ceil((resets_at - datetime.now(UTC)).total_seconds()))
        when = None if resets_at is None else resets_at.isoformat()
        details = {"quota": quota, "limit": limit, "used": used, "resets_at": when}
        # No `RateLimit-*` headers: they are about the rate of requests.
        super().__init__(message, retry_after=retry_after, details=details)


class ProviderError(LocusError):
    """A service that Locus depends on, such as a language model, failed or refused."""

    code, status, default_message = "provider_error", 502, "A service behind this server failed. Try again."


class Overloaded(LocusError):
    """The server cannot take more work now."""

    code, status, default_message = "overloaded", 503, "The server is busy. Try again in a moment."

    @property
    def headers(self) -> dict[str, str]:
        """The header that says when to try again."""
        return {"Retry-After": "10"}


class ServiceUnavailable(Overloaded):
    """The database, or another service that this server needs, does not answer."""

    default_message = "A part of this server does not answer. Try again in a moment."


class StorageUnavailable(Overloaded):
    """The store of files does not answer, or refuses."""

    default_message = "The file store does not answer. Try again in a moment."


class Timeout(LocusError):
    """A step took longer than its limit."""

    code, status, default_message = "timeout", 504, "This took too long. Try again, or ask for less."


class RequestTimeout(Timeout):
    """The client took too long to send its request."""

    status, default_message = 408, "The request came too slowly."


def status_of(code: str) -> int:
    """Return the HTTP status of the errors with a code; 500 for an unknown code."""
    return next((error.status for error in _subclasses(LocusError) if error.code == code), 500)


def _subclasses(error: type[LocusError]) -> Iterator[type[LocusError]]:
    for child in error.__subclasses__():
        yield child
        yield from _subclasses(child)
