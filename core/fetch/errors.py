"""Why a URL was not fetched.

The messages never reveal whether a port of an internal address is open, nor which address a name has.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import DocumentError


class FetchError(DocumentError):
    """A URL could not be fetched.

    `code` is one of contract §4, except that of `RobotsDisallowed`, which documents never get because users
    name their URLs.
    """


class BlockedUrl(FetchError):
    """The URL, or one that it redirects to, is not on the public web."""

    code = "blocked_url"
    default_message = (
        "This address may not be fetched: it must lie in the public web, on port 80 or 443. "
        "Save the page and upload the file instead."
    )


class InvalidUrl(BlockedUrl):
    """The text is not a valid URL."""

    default_message = "This is not a web address. Give one that begins with http:// or https://."


class DeniedUrl(BlockedUrl):
    """The caller's domain lists exclude the URL, or one that it redirects to."""

    default_message = "This page lies on, or leads to, a site that is not to be read here."


class UnreachableUrl(FetchError):
    """No server answers, or not in time, or with an error."""

    code = "unreachable_url"
    default_message = "The address could not be reached. Check it in a browser and try again."

    def __init__(
        self,
        message: str | None = None,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the status and headers of the server's response, for callers that need them."""
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class UnknownHost(UnreachableUrl):
    """No host has this name."""

    default_message = "No host of this name was found. Check the address."


class ResponseTooLarge(FetchError):
    """The response, as sent or decompressed, exceeds the limit."""

    code = "too_large"
    default_message = (
        "The page is larger than what is fetched from the web. Save it and upload the file instead."
    )


class UnsupportedResponse(FetchError):
    """The response is neither a web page nor text nor a PDF."""

    code = "unsupported_type"
    default_message = (
        "Only web pages, text and PDF are fetched from the web. Save the file and upload it instead."
    )


class RobotsDisallowed(FetchError):
    """The site asks programs to stay away, or to wait longer than we do."""

    code = "robots_disallowed"
    default_message = "The site asks programs not to fetch this page."
