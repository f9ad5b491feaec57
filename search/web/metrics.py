"""What operators can see of web searches; names and labels are those of contract §6.

A metric that can't be written, on a full disk for example, is a line in the log and fails no search.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Literal, ParamSpec

from django.db import Error as AnyDatabaseError
from django.utils import timezone
from prometheus_client import Counter, Histogram, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from search.web.breaker import State, name_of, states
from search.web.providers.registry import PROVIDERS

P = ParamSpec("P")
Result = Literal["ok", "error", "unavailable"]
logger = logging.getLogger(__name__)

_calls = Counter(
    "kb_web_search_calls",
    "Attempts: hits or none came (ok), the provider failed (error), its breaker was open (unavailable)",
    ["provider", "result"],
)
_cache = Counter(
    "kb_web_search_cache",
    "Looks into the cache, by the first provider that could be asked",
    ["provider", "hit"],
)
_breaker_open = Counter("kb_web_search_breaker_open", "Attempts that the breaker refused", ["provider"])
_latency = Histogram(
    "kb_web_search_latency_ms",
    "Milliseconds that providers took, of attempts that left the process",
    ["provider"],
    buckets=(50, 100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 20_000),
)


def _never_failing(record: Callable[P, None]) -> Callable[P, None]:
    @wraps(record)
    def recording(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            record(*args, **kwargs)
        # A failing metric must not fail the search.
        except Exception:
            logger.warning("A metric can't be written.", exc_info=True)

    return recording


@_never_failing
def count_call(provider: str, result: Result) -> None:
    """Count how an attempt ended; one that the breaker refused also by itself."""
    _calls.labels(provider, result).inc()
    if result == "unavailable":
        _breaker_open.labels(provider).inc()


@_never_failing
def count_look_up(provider: str, *, hit: bool) -> None:
    """Count a look into the cache; `provider` is the first that could be asked, as in the key."""
    _cache.labels(provider, str(hit).lower()).inc()


@contextmanager
def observe_time(provider: str) -> Iterator[None]:
    """Observe how long the block takes, however it ends."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        _took(provider, (time.perf_counter() - begun) * 1000)


@_never_failing
def _took(provider: str, milliseconds: float) -> None:
    _latency.labels(provider).observe(milliseconds)


class BreakerStates(Collector):
    """`kb_circuit_breaker_state{breaker}`: 0 closed, 1 half-open, 2 open; as all processes see it."""

    def collect(self) -> Iterable[Metric]:
        """Yield the state of every provider's breaker; nothing if the database does not tell."""
        try:
            known = states(timezone.now())
        except AnyDatabaseError:
            logger.warning("The states of the breakers can't be read.", exc_info=True)
            return
        metric = GaugeMetricFamily(
            "kb_circuit_breaker_state", "0 closed, 1 half-open, 2 open", labels=["breaker"]
        )
        for provider in PROVIDERS:
            name = name_of(provider)
            metric.add_metric([name], known.get(name, State.CLOSED))
        yield metric
