"""Cross-origin requests to the API from the pages of `CORS_ORIGINS`.

Cookies are not allowed: a foreign page uses a key, so `Access-Control-Allow-Credentials` is never sent.
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
    b" WWW-Authenticate, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset"
)
PREFLIGHT_SECS = b"600"


def is_api(scope: Mapping[str, Any]) -> bool:
    """Return whether the request is for the API; nothing else answers foreign pages."""
    return bool(scope["path"].startswith(API_PREFIXES))


def is_preflight(scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> bool:
    """Return whether this is a preflight request of a browser."""
    return (
        scope["method"] == "OPTIONS"
        and is_api(scope)
        and b"origin" in headers
        and b"access-control-request-method" in headers
    )


def preflight_headers(headers: Mapping[bytes, bytes]) -> Headers:
    """Return the headers of a preflight's reply: an origin that is not listed is allowed nothing."""
    vary = (b"Vary", b"Access-Control-Request-Method, Access-Control-Request-Headers")
    if not _is_listed(headers):
        return [vary]
    asked = headers.get(b"access-control-request-headers", b"")
    return [
        vary,
        (b"Access-Control-Allow-Methods", METHODS),
        # All headers are allowed.
        *([(b"Access-Control-Allow-Headers", asked)] if asked else []),
        (b"Access-Control-Max-Age", PREFLIGHT_SECS),
    ]


def reply_headers(headers: Mapping[bytes, bytes]) -> Headers:
    """Return the CORS headers of every API reply."""
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
