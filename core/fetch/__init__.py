"""The only way to fetch from the public web, with checks (contract §6, ADR 10).

`fetch` is for asynchronous callers, `fetch_blocking` for others; both write the response to a file.
`post` sends, and reads nothing but the status.
"""

from core.fetch.client import Admit, Fetched, FetchLimits, default_limits, fetch, fetch_blocking, post
from core.fetch.errors import (
    BlockedUrl,
    DeniedUrl,
    FetchError,
    InvalidUrl,
    ResponseTooLarge,
    RobotsDisallowed,
    UnknownHost,
    UnreachableUrl,
    UnsupportedResponse,
)
from core.fetch.guard import GuardedNetwork, is_public
from core.fetch.urls import MAX_URL, allowed_addresses, name_of_url, web_url

__all__ = [
    "MAX_URL",
    "Admit",
    "BlockedUrl",
    "DeniedUrl",
    "FetchError",
    "FetchLimits",
    "Fetched",
    "GuardedNetwork",
    "InvalidUrl",
    "ResponseTooLarge",
    "RobotsDisallowed",
    "UnknownHost",
    "UnreachableUrl",
    "UnsupportedResponse",
    "allowed_addresses",
    "default_limits",
    "fetch",
    "fetch_blocking",
    "is_public",
    "name_of_url",
    "post",
    "web_url",
]
