"""A model behind an HTTP endpoint: temporary failures are retried, permanent ones name the wrong setting."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import stamina
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.last_errors import note_error

CONNECT_TIMEOUT_SECS = 10.0
TIMEOUT_SECS = 60.0
ATTEMPTS = 6
FIRST_WAIT_SECS = 0.5
LONGEST_WAIT_SECS = 60.0


class EndpointUnavailable(ImproperlyConfigured):
    """The endpoint did not answer, or not usefully, after several attempts."""


class EndpointRefusal(ImproperlyConfigured):
    """The endpoint refuses the request, and would refuse it again; `status` is the HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class _Transient(Exception):
    """Worth another attempt, `after` so many seconds if the endpoint named a delay."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Endpoint:
    """One address, from the settings `PREFIX_BASE_URL` and `PREFIX_API_KEY`. Thread-safe."""

    def __init__(self, prefix: str, path: str, model: str) -> None:
        base: str = getattr(settings, f"{prefix}_BASE_URL")
        self._prefix, self._model = prefix, model
        self._key: str = getattr(settings, f"{prefix}_API_KEY")
        self._url = base.rstrip("/") + path
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx2.Client(headers=headers)
        self.address = _without_secrets(self._url)
        """The address for people: without password and query."""

    def post(self, body: dict[str, Any], *, within: float | None = None) -> Any:
        """Return the endpoint's JSON answer; `within` limits the seconds if a user waits.

        Raises `EndpointUnavailable` if there is no answer, `EndpointRefusal` with the wrong setting's name.
        """
        try:
            return self._answer(body, None if within is None else time.monotonic() + within)
        except (EndpointUnavailable, EndpointRefusal) as error:
            note_error(self._prefix, error)
            raise

    def _answer(self, body: dict[str, Any], until: float | None) -> Any:
        def wait(error: Exception) -> bool | float:
            """Return whether to retry, or after how many seconds."""
            if not isinstance(error, _Transient):
                return False
            if until is not None and time.monotonic() + (error.after or FIRST_WAIT_SECS) >= until:
                return False
            return True if error.after is None else min(error.after, LONGEST_WAIT_SECS)

        try:
            for attempt in stamina.retry_context(
                on=wait,
                attempts=ATTEMPTS,
                timeout=None,
                wait_initial=FIRST_WAIT_SECS,
                wait_max=LONGEST_WAIT_SECS,
            ):
                with attempt:
                    return self._post(body, until)
        except _Transient as error:
            raise EndpointUnavailable(
                f"{self._prefix}_BASE_URL: {self.address} failed {attempt.num} times, last: {error}"
            ) from None
        raise AssertionError("the last attempt returns or raises")

    def misunderstood(self, format: str, problem: object) -> EndpointUnavailable:
        """Return the error to raise for an answer that is not in the expected format."""
        return EndpointUnavailable(
            f"{self._prefix}_BASE_URL: {self.address} does not answer as {format} does: {problem}"
        )

    def _post(self, body: dict[str, Any], until: float | None) -> Any:
        left = TIMEOUT_SECS if until is None else max(0.01, until - time.monotonic())
        timeout = httpx2.Timeout(left, connect=min(left, CONNECT_TIMEOUT_SECS))
        try:
            reply = self._client.post(self._url, json=body, timeout=timeout)
        except httpx2.TransportError as error:
            raise _Transient(f"{type(error).__name__}: {error}") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise ImproperlyConfigured(f"{self._prefix}_BASE_URL is not an address: {error}") from error
        if reply.status_code == 429 or reply.status_code >= 500:
            raise _Transient(f"HTTP {reply.status_code}", retry_after(reply.headers.get("Retry-After")))
        if not reply.is_success:
            raise EndpointRefusal(self._refusal(reply), reply.status_code)
        try:
            return reply.json()
        except ValueError as error:
            raise self.misunderstood("JSON", error) from error

    def _refusal(self, reply: httpx2.Response) -> str:
        blamed = {401: "API_KEY", 403: "API_KEY", 404: f"MODEL or {self._prefix}_BASE_URL"}
        setting = f"{self._prefix}_{blamed.get(reply.status_code, 'MODEL')}"
        said = reply.text[:300]
        if self._key:
            said = said.replace(self._key, "…")
        return f"{setting}: {self.address} refused {self._model} with HTTP {reply.status_code}: {said}"


def retry_after(header: str | None) -> float | None:
    """Return the seconds from now that a header gives as seconds or an HTTP date (RFC 9110 §10.2.3)."""
    if not header:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _without_secrets(url: str) -> str:
    parsed = httpx2.URL(url)
    return str(parsed.copy_with(userinfo=b"", query=None))
