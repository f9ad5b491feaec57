"""How what goes wrong with a provider is classed, and what people are told of it: never the key."""

from __future__ import annotations

from search.web.base import Outcome, ProviderFailed

_MESSAGES = {
    Outcome.INVALID_REQUEST: "{} does not take this search",
    Outcome.RATE_LIMITED: "{} limits how often it may be asked",
    Outcome.BOT_CHALLENGE: "{} blocks this server as a robot",
    Outcome.AUTH: "{} refuses access",
    Outcome.QUOTA: "The quota of {} is used up",
    Outcome.TIMEOUT: "{} did not answer in time",
    Outcome.UNAVAILABLE: "{} could not be asked",
    Outcome.BAD_RESPONSE: "{} sent an answer that could not be read",
}
_OF_STATUS = {
    400: Outcome.INVALID_REQUEST,
    401: Outcome.AUTH,
    402: Outcome.QUOTA,
    403: Outcome.AUTH,
    413: Outcome.INVALID_REQUEST,
    422: Outcome.INVALID_REQUEST,
    429: Outcome.RATE_LIMITED,
}
# They say nothing about the provider's health.
_NOT_ITS_FAULT = (Outcome.INVALID_REQUEST, Outcome.AUTH)


def failure(
    provider: str, outcome: Outcome, detail: str = "", *, retry_after: float | None = None
) -> ProviderFailed:
    """Return what to raise; `detail` is a few words of ours, `retry_after` seconds."""
    message = _MESSAGES[outcome].format(provider)
    return ProviderFailed(
        outcome,
        f"{message} ({detail})." if detail else f"{message}.",
        counts=outcome not in _NOT_ITS_FAULT,
        retry_after=retry_after,
    )


def outcome_of(status: int) -> Outcome:
    """Return what most providers mean by a status that is not 200."""
    if status >= 500:
        return Outcome.UNAVAILABLE
    return _OF_STATUS.get(status, Outcome.BAD_RESPONSE)
