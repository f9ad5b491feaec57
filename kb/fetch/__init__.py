"""The one way out: pages and files of the public web, fetched under guard (contract §6, ADR 10).

`fetch` for asynchronous callers, `fetch_blocking` for the others; both write what they get to a file.
"""

from kb.fetch.client import Fetched, FetchLimits, default_limits, fetch, fetch_blocking
from kb.fetch.errors import BlockedUrl, FetchError, InvalidUrl, TooLarge, UnreachableUrl, UnsupportedType
from kb.fetch.guard import GuardedNetwork, is_public
from kb.fetch.urls import MAX_URL, allowed_addresses, name_of_url, web_url

__all__ = [
    "MAX_URL",
    "BlockedUrl",
    "FetchError",
    "FetchLimits",
    "Fetched",
    "GuardedNetwork",
    "InvalidUrl",
    "TooLarge",
    "UnreachableUrl",
    "UnsupportedType",
    "allowed_addresses",
    "default_limits",
    "fetch",
    "fetch_blocking",
    "is_public",
    "name_of_url",
    "web_url",
]
