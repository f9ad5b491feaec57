"""What goes wrong with a language model: a code for the caller, the cause for the log, the key for nobody."""

from __future__ import annotations

import httpx2
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)

from core.errors import LocusError, Overloaded, ProviderError, Timeout

LONGEST_WAIT_SECS = 20.0
"""Who asks for more patience than this before another attempt gets none."""
LONGEST_CAUSE = 300

_BUSY = (ModelRateLimitError, ModelUnavailableError)
_TRANSIENT = (*_BUSY, ModelServerError, ModelConnectionError, httpx2.TransportError)
_LATE = (TimeoutError, ModelTimeoutError, httpx2.TimeoutException)
_BLAMED: dict[type[ModelAPIError], str] = {
    ModelAuthenticationError: "GENERATION_API_KEY",
    ModelNotFoundError: "GENERATION_MODEL or GENERATION_BASE_URL",
    ModelContextWindowExceededError: "GENERATION_CONTEXT_TOKENS",
}


class ModelFailed(Exception):
    """A request to a language model failed.

    `error` is what the caller is told and `cause` what the log says; `again` whether another attempt may
    succeed, or in how many seconds the provider wants it.
    """

    def __init__(self, error: LocusError, cause: str, again: bool | float = False) -> None:
        super().__init__(cause)
        self.error = error
        self.cause = cause
        self.again = again


def failed(model: str, error: Exception, key: str) -> ModelFailed:
    """Return what one of the `KNOWN` errors means; `key` is kept out of it."""
    cause = " ".join(f"{type(error).__name__.lstrip('_')}: {error}".split())
    if key:
        cause = cause.replace(key, "…")
    blamed = next((setting for kind, setting in _BLAMED.items() if isinstance(error, kind)), None)
    prefix = f"{blamed}: " if blamed else ""
    return ModelFailed(_caller_error(model, error), (prefix + cause)[:LONGEST_CAUSE], _again(error))


def unfinished(model: str, cause: str, *, again: bool) -> ModelFailed:
    """Return what an answer means that ended without an error, and yet is none."""
    return ModelFailed(ProviderError(f"{model} did not finish its answer. Try again."), cause, again)


def _caller_error(model: str, error: Exception) -> LocusError:
    if isinstance(error, _LATE):
        return Timeout(f"{model} did not answer in time. Try again, or ask for less.")
    if isinstance(error, _BUSY):
        return Overloaded(f"{model} is busy. Try again in a moment.")
    return ProviderError(f"{model} could not answer. Try again; the log of the server says why.")


def _again(error: Exception) -> bool | float:
    if isinstance(error, _LATE) or not isinstance(error, _TRANSIENT):
        return False
    wanted = error.retry_after if isinstance(error, ModelAPIError) else None
    return True if wanted is None else wanted <= LONGEST_WAIT_SECS and wanted
