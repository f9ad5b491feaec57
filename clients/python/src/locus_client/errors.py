"""What goes wrong: errors that the server tells, each with its code, and connections that are lost."""

from __future__ import annotations

from typing import Any

import httpx


class LocusError(Exception):
    """An error with the server's code, such as `not_found` or `rate_limited`.

    `status` is the HTTP status; None if a run that had begun has failed. `retry_after` is in seconds.
    """

    def __init__(
        self, error: dict[str, Any], status: int | None = None, headers: httpx.Headers | None = None
    ) -> None:
        self.code: str = error.get("code", "internal")
        self.message: str = error.get("message", "The server gave no reason.")
        self.param: str | None = error.get("param")
        self.details: dict[str, Any] = error.get("details") or {}
        self.status = status
        self.request_id: str | None = headers.get("X-Request-Id") if headers else None
        after = headers.get("Retry-After", "") if headers else ""
        self.retry_after: float | None = float(after) if after.isdecimal() else None
        super().__init__(f"{self.code}: {self.message}")


class ConnectionLost(Exception):
    """A stream broke off, and could not be taken up again; `execution_id` names the run, which goes on."""

    def __init__(self, execution_id: str | None) -> None:
        self.execution_id = execution_id
        super().__init__(f"The stream of {execution_id or 'a run'} was lost.")


def error_of(response: httpx.Response) -> LocusError:
    """Return the error of a response that has been read."""
    try:
        error = response.json()["error"]
    except (ValueError, LookupError, TypeError):
        # A proxy in between answers otherwise.
        error = {"message": response.text[:300]}
    return LocusError(error if isinstance(error, dict) else {}, response.status_code, response.headers)
