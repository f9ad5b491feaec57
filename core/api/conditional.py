"""`ETag`, `If-None-Match`, `If-Match`, `If-Range` (RFC 9110 §13): nothing twice, no change lost."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.validation import ApiModel
from core.errors import PreconditionFailed

Reply = TypeVar("Reply", bound=HttpResponseBase)

REVALIDATED = "private, no-cache"
"""May be kept by the client alone, and is asked about before each use: rights end."""
ASKER_HEADERS = (
    *("Authorization", "X-API-KEY", "Cookie"),
    *("X-External-User-Id", "X-End-User-ID", "external_user_id"),
)
"""By what the answer to the same address may differ."""


def etag_of(body: dict[str, Any]) -> str:
    """Return a strong validator of a JSON body."""
    packed = orjson.dumps(body, default=str, option=orjson.OPT_SORT_KEYS)
    return f'"{hashlib.sha256(packed).hexdigest()[:32]}"'


def is_unchanged(request: Request | HttpRequest, etag: str) -> bool:
    """Whether the client said by `If-None-Match` that it has what `etag` names."""
    given = [one.removeprefix("W/") for one in parse_etags(request.headers.get("If-None-Match") or "")]
    return given == ["*"] or etag in given


def require_unchanged(if_match: str | None, etag: str) -> None:
    """Raise `PreconditionFailed` if the header `If-Match` is there and names another state."""
    given = parse_etags(if_match or "")
    # A weak one never matches here: RFC 9110 §13.1.1.
    if if_match is not None and given != ["*"] and etag not in given:
        raise PreconditionFailed


def not_modified(etag: str) -> HttpResponse:
    """Return the answer to a client that has it already."""
    return revalidated(HttpResponse(status=304), etag)


def json_response(request: Request, body: ApiModel) -> HttpResponseBase:
    """Return a JSON body with its validator, or 304."""
    etag = etag_of(shown := body.as_json())
    return not_modified(etag) if is_unchanged(request, etag) else revalidated(Response(shown), etag)


def revalidated(response: Reply, etag: str) -> Reply:
    """Return the response with its validator, and with how long it may be kept and by whom."""
    response["ETag"], response["Cache-Control"] = etag, REVALIDATED
    patch_vary_headers(response, ASKER_HEADERS)
    return response
