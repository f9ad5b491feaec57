"""Original files over HTTP: ranges, the original name, and a type that no browser runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from django.http import (
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
    StreamingHttpResponse,
)
from django.utils.http import content_disposition_header

from core.errors import RangeNotSatisfiable
from core.text.visible_text import one_line
from kb.storage import StoredFile

BLOCK_BYTES = 256 * 1024
BEYOND_ANY_FILE = 10**18
# Shown in the browser; others are downloaded, so that an uploaded page can't run scripts here.
INLINE_TYPES = frozenset(
    {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp", "text/plain"}
    | {"audio/mpeg", "audio/wav", "audio/mp4", "audio/ogg", "audio/opus", "audio/flac", "audio/webm"}
    | {"video/mp4", "video/webm", "video/ogg", "video/quicktime", "video/x-matroska"}
)


def serve_file(
    file: StoredFile, name: str, mime_type: str, range_header: str | None, *, may_redirect: bool = False
) -> HttpResponseBase:
    """Return the file, or the one part of it that `Range: bytes=…` requests (RFC 9110 §14).

    With `may_redirect`, the store itself may serve it, if the operator wants that.
    """
    safe = mime_type in INLINE_TYPES
    content_type = mime_type if safe else "application/octet-stream"
    if may_redirect and (url := file.signed_url(one_line(name), content_type, safe)):
        return HttpResponseRedirect(url)
    size = file.storage.size(file.name)
    try:
        part = _requested_part(range_header, size)
    except UnsatisfiableRange:
        return JsonResponse(
            RangeNotSatisfiable().as_json(), status=416, headers={"Content-Range": f"bytes */{size}"}
        )
    start, end = part or (0, size)
    response = StreamingHttpResponse(
        _blocks(file, start, end), status=206 if part else 200, content_type=content_type
    )
    response["Content-Length"] = str(end - start)
    response["Accept-Ranges"] = "bytes"
    response["Content-Disposition"] = content_disposition_header(not safe, one_line(name)) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    if part:
        response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


def follows_redirects(request: HttpRequest) -> bool:
    """Tell whether a client can fetch from another origin: our pages' policy forbids them to.

    Browsers say for what they ask. A page asks for parts of a file; programs and downloads for all of it.
    """
    return request.headers.get("Sec-Fetch-Dest", "document") == "document"


class UnsatisfiableRange(Exception):
    """The range lies outside the file."""


def _requested_part(header: str | None, size: int) -> tuple[int, int] | None:
    """Return start and end (exclusive) of a single range, or None for the whole file."""
    match = re.fullmatch(r"bytes=([0-9]*)-([0-9]*)", (header or "").strip())
    if not match or not any(match.groups()):
        return None
    first, last = map(_position, match.groups())
    if not match[1]:
        start, end = max(0, size - last), size
    else:
        start, end = first, min(last + 1, size) if match[2] else size
    if start >= size or end <= start:
        raise UnsatisfiableRange
    return start, end


def _position(digits: str) -> int:
    """Return a byte position of any number of digits; positions beyond the largest file are equal."""
    significant = digits.lstrip("0")
    return int(significant or 0) if len(significant) < len(str(BEYOND_ANY_FILE)) else BEYOND_ANY_FILE


async def _blocks(file: StoredFile, start: int, end: int) -> AsyncIterator[bytes]:
    opened = await asyncio.to_thread(file.storage.open, file.name)
    try:
        await asyncio.to_thread(opened.seek, start)
        left = end - start
        while left > 0:
            block = await asyncio.to_thread(opened.read, min(BLOCK_BYTES, left))
            if not block:
                return
            left -= len(block)
            yield block
    finally:
        await asyncio.to_thread(opened.close)
