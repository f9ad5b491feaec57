"""Cross-origin requests to the API from the pages of `CORS_ORIGINS`.

No cookies: a foreign page speaks with a key or token, so `Access-Control-Allow-Credentials` is never sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from core.http.error_pages import API_PREFIXES

Headers = list[tuple[bytes, bytes]]
METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
EXPOSED = (
    b"X-Request-Id, X-Execution-Id, ETag, Location, Content-Disposition, Content-Range, Retry-After,"
    b" RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset"
)
PREFLIGHT_SECS = b"600"


def is_api(scope: Mapping[str, Any]) -> bool:
    """Tell whether the request is to the API, which alone answers foreign pages."""
    return bool(scope["path"].startswith(API_PREFIXES))


def is_preflight(scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a browser asks what a foreign page may send."""
    return (
        scope["method"] == "OPTIONS"
        and is_api(scope)
        and b"origin" in headers
        and b"access-control-request-method" in headers
    )


def preflight_headers(headers: Mapping[bytes, bytes]) -> Headers:
    """Return what a preflight is answered with: nothing is allowed to an origin that is not listed."""
    vary = (b"Vary", b"Access-Control-Request-Method, Access-Control-Request-Headers")
    if not _is_listed(headers):
        return [vary]
    asked = headers.get(b"access-control-request-headers", b"")
    return [
        vary,
        (b"Access-Control-Allow-Methods", METHODS),
        # Which headers are sent decides nothing here: any may be.
        *([(b"Access-Control-Allow-Headers", asked)] if asked else []),
        (b"Access-Control-Max-Age", PREFLIGHT_SECS),
    ]


def reply_headers(headers: Mapping[bytes, bytes]) -> Headers:
    """Return what every reply of the API says to browsers."""
    vary = (b"Vary", b"Origin")
    if not _is_listed(headers):
        return [vary]
    return [
        vary,
        (b"Access-Control-Allow-Origin", headers[b"origin"]),
        (b"Access-Control-Expose-Headers", EXPOSED),
    ]


def _is_listed(headers: Mapping[bytes, bytes]) -> bool:
    return headers.get(b"origin", b"").decode("latin-1") in settings.CORS_ORIGINS
