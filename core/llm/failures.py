"""What goes wrong with a chat model: an error for the caller, the cause for the log, the key for nobody."""

from __future__ import annotations

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
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

KNOWN = (AgentRunError, httpx2.HTTPError, TimeoutError)
"""What the model library, the transport below it and our own clock raise."""
LONGEST_WAIT_SECS = 20.0
"""Who asks for more patience than this before another attempt gets none."""
LONGEST_CAUSE = 300

_BUSY = (ModelRateLimitError, ModelUnavailableError)
_TRANSIENT = (*_BUSY, ModelServerError, ModelConnectionError, httpx2.TransportError)
_LATE = (TimeoutError, ModelTimeoutError, httpx2.TimeoutException)


class ModelFailed(Exception):
    """A request to a chat model failed.

    `error` is what the caller is told and the exception's text, without the key, what the log says; `again`
    whether another attempt may succeed, or in how many seconds the provider wants it.
    """

    def __init__(self, error: LocusError, cause: str, again: bool | float = False) -> None:
        super().__init__(cause)
        self.error = error
        self.again = again

    @property
    def may_be_billed(self) -> bool:
        """Whether nobody knows if the provider bills it: it may still be at work."""
        return isinstance(self.error, Timeout)


def failed(model: str, error: Exception, key: str, prefix: str) -> ModelFailed:
    """Return what one of the `KNOWN` errors means; settings to blame begin with `prefix`."""
    cause = " ".join(f"{type(error).__name__.lstrip('_')}: {error}".split())
    if key:
        cause = cause.replace(key, "…")
    blamed = _blamed(error, prefix)
    cause = f"{blamed}: {cause}" if blamed else cause
    return ModelFailed(_public(model, error), cause[:LONGEST_CAUSE], _again(error))


def unfinished(model: str, cause: str, *, again: bool) -> ModelFailed:
    """Return what an answer means that ended without an error, and yet is none."""
    return ModelFailed(ProviderError(f"{model} did not finish its answer. Try again."), cause, again)


def _blamed(error: Exception, prefix: str) -> str:
    match error:
        case ModelAuthenticationError():
            return f"{prefix}_API_KEY"
        case ModelNotFoundError():
            return f"{prefix}_MODEL or {prefix}_BASE_URL"
        case ModelContextWindowExceededError():
            return "GENERATION_CONTEXT_TOKENS" if prefix == "GENERATION" else f"{prefix}_MODEL"
    return ""


def _public(model: str, error: Exception) -> LocusError:
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
