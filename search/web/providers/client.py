"""HTTP requests to a provider, with a limit on the size of replies.

The operator has chosen the address, so the guard of `core.fetch` does not apply. Failed requests are not
repeated: a user is waiting, so the next provider is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2
from django.conf import settings

from core.endpoint import retry_after
from core.llm.http import http_client
from search.web.base import Outcome
from search.web.providers.failures import failure

MAX_REPLY_BYTES = 4 * 2**20
"""Of a reply as it is decompressed; what providers send is a few dozen kilobytes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered, whatever its status."""

    status: int
    headers: httpx2.Headers
    body: bytes

    @property
    def text(self) -> str:
        """The body as text; what is not UTF-8 is replaced."""
        return self.body.decode(errors="replace")

    @property
    def retry_after(self) -> float | None:
        """In how many seconds to come back, by the header `Retry-After`."""
        return retry_after(self.headers.get("Retry-After"))

    def json(self) -> Any:
        """Return the body as JSON, or raise `ValueError`."""
        try:
            return json.loads(self.body)
        except RecursionError:
            raise ValueError("nested too deeply") from None

    def json_object(self) -> dict[str, Any]:
        """Return the body as a JSON object; what is none is an empty one."""
        try:
            body = self.json()
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}


class Client:
    """The connections of one search; `async with` closes them, also when the search is given up.

    Its own, since connections belong to one event loop. It sets no time limits: the search has one.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._client = http_client(
            timeout=None,
            headers={"User-Agent": settings.WEB_FETCH_USER_AGENT, "Accept-Encoding": "gzip"},
        )

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def get(
        self,
        url: str,
        params: Mapping[str, str],
        *,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
    ) -> Reply:
        """Return the reply to a GET; `auth`: name and password. Raise `ProviderFailed` if there is none."""
        request = self._client.build_request("GET", url, params=params, headers=headers)
        return await self._sent(request, httpx2.BasicAuth(*auth) if auth else None)

    async def post_json(self, url: str, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a JSON body. Raise `ProviderFailed` if there is none."""
        return await self._sent(self._client.build_request("POST", url, json=body, headers=headers))

    async def post_form(self, url: str, fields: Mapping[str, str], *, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a form. Raise `ProviderFailed` if there is none."""
        return await self._sent(self._client.build_request("POST", url, data=fields, headers=headers))

    async def _sent(self, request: httpx2.Request, auth: httpx2.Auth | None = None) -> Reply:
        # Causes are not chained: they hold the address, and with some providers the key in it.
        try:
            reply = await self._client.send(request, auth=auth, stream=True)
            try:
                return Reply(reply.status_code, reply.headers, await self._body(reply))
            finally:
                await reply.aclose()
        except httpx2.DecodingError:
            raise failure(self._provider, Outcome.BAD_RESPONSE, "damaged compression") from None
        except httpx2.TransportError as error:
            raise failure(self._provider, Outcome.UNAVAILABLE, type(error).__name__) from None

    async def _body(self, reply: httpx2.Response) -> bytes:
        body = bytearray()
        async for block in reply.aiter_bytes():
            body += block
            if len(body) > MAX_REPLY_BYTES:
                raise failure(self._provider, Outcome.BAD_RESPONSE, f"more than {MAX_REPLY_BYTES} bytes")
        return bytes(body)
