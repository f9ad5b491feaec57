"""The `RateLimit-*` headers of replies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from accounts.quotas.rates import RateStanding
from accounts.quotas.request_rates import STANDING

Answer = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def rate_limit_headers(get_response: Answer) -> Answer:
    """Say in each reply to a counted request what is left of its rate; a refusal says so itself."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _with_headers(request, await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return _with_headers(request, response)

    return answer


def _with_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    standing: RateStanding | None = getattr(request, STANDING, None)
    for name, value in (standing.headers if standing else {}).items():
        response.headers.setdefault(name, value)
    return response
