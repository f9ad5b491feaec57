"""Which models a server offers, and which servers of models run on this machine.

Every server that we know lists its models at `models` below its address: Anthropic, OpenAI, Ollama,
llama.cpp, vLLM and LM Studio. Addresses are the fixed ones below and those that an administrator types,
which are trusted as the settings `*_BASE_URL` are.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx2

from core.errors import ProviderError, ValidationError
from core.fetch.guard import resolve
from core.llm.http import http_client
from core.llm.registry import provider_named
from core.text.visible_text import one_line

LISTING_SECS = 10.0
SEARCH_SECS = 1.5
"""A server on this machine that does not answer within so long is not there."""
MOST_BYTES = 4 << 20
MOST_MODELS, LONGEST_NAME = 500, 200
NOT_FOR_ANSWERS = re.compile(
    r"embed|whisper|\btts\b|dall-e|moderation|transcri|realtime|rerank|\bimage\b|\baudio\b", re.IGNORECASE
)
"""In the names of models that do not write answers."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A program that serves models, and the port where it listens unless it is told otherwise."""

    name: str
    port: int

    @property
    def address(self) -> str:
        """Where it speaks OpenAI's format."""
        return f"http://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answers on this machine."""

    name: str
    address: str
    models: Sequence[str]


LOCAL_SERVERS = (
    LocalServer("Ollama", 11434),
    LocalServer("LM Studio", 1234),
    LocalServer("llama.cpp", 8080),
    LocalServer("vLLM", 8000),
)


async def find_local_servers(own_port: int) -> list[FoundServer]:
    """Return the servers of models that answer on this machine; `own_port` is Locus itself, and not asked."""

    async def ask(server: LocalServer) -> FoundServer | None:
        try:
            models = await models_of("openai-compatible", server.address, "", within=SEARCH_SECS)
        except ProviderError:
            return None
        return FoundServer(server.name, server.address, models)

    answers = await asyncio.gather(*(ask(each) for each in LOCAL_SERVERS if each.port != own_port))
    return [each for each in answers if each is not None]


async def models_of(provider: str, address: str, key: str, *, within: float = LISTING_SECS) -> list[str]:
    """Return the names of the models that a provider offers at an address (empty: its usual one).

    Raise `ProviderError`, whose message says what to do.
    """
    known = provider_named(provider)
    url, headers = known.models_request(address or known.address, key)
    try:
        async with asyncio.timeout(within):
            names = _names(await _body(url, headers))
    except (TimeoutError, httpx2.TimeoutException):
        raise ProviderError(
            f"{_place(url)} did not answer within {within:.0f} s. Check the address."
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        raise ProviderError(
            f"Nothing answers at {_place(url)}. Is the server running, and the address right?"
        ) from None
    return sorted({name for name in names if not NOT_FOR_ANSWERS.search(name)}, key=str.casefold)[
        :MOST_MODELS
    ]


def refuse_address(address: str) -> None:
    """Raise `ValidationError` for an address that can't be a server of models.

    Link-local addresses are where clouds hand out credentials; no model is served there.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValidationError(
            "Write an address such as http://127.0.0.1:11434/v1, without name and password.", param="address"
        )
    try:
        found = resolve(parts.hostname, parts.port or 443)
    except (OSError, UnicodeError, ValueError):
        # The request itself will say that nothing answers there.
        return
    if any(_is_link_local(each) for each in found):
        raise ValidationError("No model is served at a link-local address.", param="address")


def _is_link_local(address: str) -> bool:
    ip = ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified


async def _body(url: str, headers: dict[str, str]) -> bytes:
    """Return the answer, at most `MOST_BYTES`. A redirect is not followed: it would carry the key along."""
    async with (
        http_client(timeout=LISTING_SECS, trust_env=not _is_here(url)) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        if response.status_code != 200:
            raise ProviderError(_refusal(url, response.status_code))
        body = b""
        async for block in response.aiter_bytes():
            body += block
            if len(body) > MOST_BYTES:
                raise ProviderError(f"The list of models at {_place(url)} is too long.")
        return body


def _is_here(url: str) -> bool:
    """Tell whether a server is on this machine: a proxy of the environment could not reach it."""
    return httpx2.URL(url).host in ("127.0.0.1", "localhost", "::1")


def _refusal(url: str, status: int) -> str:
    if status in (401, 403):
        return f"{_place(url)} refused the key. Check that it is whole, and that it has not expired."
    if status == 404:
        return f"{_place(url)} has no list of models. Addresses of most servers end with /v1."
    return f"{_place(url)} answered with the status {status}. Its own log says why."


def _names(body: bytes) -> list[str]:
    try:
        listed = json.loads(body)["data"]
        names = [one_line(str(each["id"])[:LONGEST_NAME]) for each in listed]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ProviderError(
            "The server answered, but not with a list of models. Check the address."
        ) from None
    return [name for name in names if name]


def _place(url: str) -> str:
    """Return scheme, host and port, for messages."""
    parts = httpx2.URL(url)
    return f"{parts.scheme}://{parts.netloc.decode()}"
