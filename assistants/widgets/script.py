"""`/widget.js`: the script that sites embed, under an address that stays."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from core.api.conditional import is_unchanged, not_modified

FRESH_SECS = 600


@require_safe
def widget_script(request: HttpRequest) -> HttpResponseBase:
    """Return the script; browsers ask again after ten minutes whether it has changed."""
    script = _script()
    etag = f'"{hashlib.sha256(script).hexdigest()[:32]}"'
    response: HttpResponseBase = (
        not_modified(etag)
        if is_unchanged(request, etag)
        else HttpResponse(script, content_type="text/javascript; charset=utf-8")
    )
    response["ETag"] = etag
    response["Cache-Control"] = f"public, max-age={FRESH_SECS}"
    # Pages that isolate themselves load only what says that it may be embedded.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Access-Control-Allow-Origin"] = "*"
    return response


@cache
def _script() -> bytes:
    path = finders.find("widget.js")
    if not isinstance(path, str):
        raise Http404
    return Path(path).read_bytes()
