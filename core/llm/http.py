"""The HTTP client for models and for search engines."""

from __future__ import annotations

import ssl
from functools import cache
from typing import Any

import httpx2


def http_client(**options: Any) -> httpx2.AsyncClient:
    """Return a client with these options, for one request or conversation.

    Not shared, since connections belong to one event loop and must close when an answer is given up.
    """
    return httpx2.AsyncClient(verify=_certificates(), **options)


@cache
def _certificates() -> ssl.SSLContext:
    # Reading them takes fifty milliseconds.
    return httpx2.create_ssl_context()
