"""What Prometheus learns of requests: how many, how quick, and how many streams are open.

The kinds are few, whatever addresses people try: each kind is a time series for good.
"""

from __future__ import annotations

import time

from prometheus_client import Counter, Gauge, Histogram

KINDS = (
    ("/api/", "api"),
    ("/v1/", "gateway"),
    ("/mcp", "gateway"),
    ("/static/", "static"),
    ("/ws/", "socket"),
)
STREAM = b"text/event-stream"

_requests = Counter("kb_http_requests", "Requests by kind and class of status", ["kind", "status"])
_seconds = Histogram(
    "kb_http_first_byte_seconds",
    "Seconds from a request to the head of its reply",
    ["kind"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
_streams = Gauge("kb_open_streams", "Event streams and websockets that are open", multiprocess_mode="livesum")


class RequestMetrics:
    """Of one request; a context manager around it."""

    def __init__(self, path: str) -> None:
        self._kind = next((kind for prefix, kind in KINDS if path.startswith(prefix)), "page")
        self._begun = time.perf_counter()
        self._is_stream = False

    def __enter__(self) -> RequestMetrics:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_stream:
            _streams.dec()

    def note_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Count the reply once its head is sent."""
        _requests.labels(self._kind, f"{status // 100}xx").inc()
        _seconds.labels(self._kind).observe(time.perf_counter() - self._begun)
        kinds = (value for name, value in headers if name.lower() == b"content-type")
        if any(value.startswith(STREAM) for value in kinds):
            self.note_stream()

    def note_stream(self) -> None:
        """Count the request as a stream until it ends."""
        self._is_stream = True
        _streams.inc()
