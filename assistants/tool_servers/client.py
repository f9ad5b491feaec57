"""One look at a server's tools, or one call: the official client over the guarded network.

Nothing is kept between calls, and nothing of what a server might ask for (samplings, questions to the user,
files) is offered to it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import mcp_types as types
from django.conf import settings
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from assistants.tool_servers.offers import MOST_TOOLS, OfferedTool
from core.errors import LocusError, ProviderError, Timeout
from core.fetch import BlockedUrl, FetchError, InvalidUrl, ResponseTooLarge
from core.fetch.transport import GuardedTransport
from core.text.visible_text import visible_lines

CALL_SECS = 30.0
MAX_BYTES = 2 * 2**20
"""Of all that a server sends for one call."""
MAX_RESULT = 20_000
"""Characters of a result that are read."""
MOST_PAGES = 5
NOT_PUBLIC = "The address of the tool server must lie in the public web, or in the setting WEB_FETCH_ALLOW."
WORDS: dict[type[FetchError], str] = {
    BlockedUrl: NOT_PUBLIC,
    InvalidUrl: NOT_PUBLIC,
    ResponseTooLarge: "The tool server sent more than is read.",
}
logger = logging.getLogger(__name__)


class ToolServerFailed(ProviderError):
    """A server can't be reached, or what it says makes no sense."""

    default_message = "The tool server did not answer as it should."


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is, and what it wants to see."""

    url: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a tool has said: foreign words, also where it has failed."""

    text: str
    is_error: bool

    def require_success(self) -> None:
        """Raise `ToolServerFailed` with the first words of a tool that has failed."""
        if self.is_error:
            raise ToolServerFailed(f"The tool has failed: {' '.join(self.text.split())[:200]}")


async def offered_tools(address: ServerAddress) -> list[OfferedTool]:
    """Return the tools that a server offers; raise `ToolServerFailed` or `Timeout`."""
    tools: list[types.Tool] = []
    async with _connected(address) as client:
        cursor = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
    found: dict[str, OfferedTool] = {}
    for tool in tools:
        offer = OfferedTool.of(tool.name, tool.description, tool.input_schema)
        if offer is not None and len(found) < MOST_TOOLS:
            found.setdefault(offer.name, offer)
    return list(found.values())


async def call_result(address: ServerAddress, tool: str, arguments: Mapping[str, Any]) -> ToolReply:
    """Return the words of a tool's result; raise `ToolServerFailed` or `Timeout` if there is none."""
    async with _connected(address) as client:
        result = await client.call_tool(tool, dict(arguments))
    return ToolReply(_words(result), bool(result.is_error))


def _words(result: types.CallToolResult) -> str:
    """Return the texts of a result; pictures, sounds and links are not followed."""
    texts = [part.text for part in result.content if isinstance(part, types.TextContent)]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n".join(texts)[: 2 * MAX_RESULT].replace("\0", "")
    return visible_lines(text.encode("utf-8", "replace").decode())[:MAX_RESULT].strip()


@asynccontextmanager
async def _connected(address: ServerAddress) -> AsyncIterator[Client]:
    headers = {"User-Agent": settings.WEB_FETCH_USER_AGENT, "Accept-Encoding": "identity"}
    if address.secret:
        headers["Authorization"] = f"Bearer {address.secret}"
    try:
        async with (
            # The one bound of time: the package would make an unclear error of a timeout of its client.
            asyncio.timeout(CALL_SECS),
            httpx2.AsyncClient(
                transport=GuardedTransport(MAX_BYTES), headers=headers, timeout=None, trust_env=False
            ) as http,
            Client(streamable_http_client(address.url, http_client=http), mode="auto") as client,
        ):
            yield client
    except TimeoutError:
        raise Timeout("The tool server did not answer in time.") from None
    except LocusError:
        raise
    except Exception as error:  # noqa: BLE001
        # What a server sends makes the package raise errors of httpx, pydantic, anyio and its own, in groups.
        raise _failure(error) from None


def _failure(error: BaseException) -> LocusError:
    """Return what is told of an error of the package, which groups them."""
    for cause in _causes(error):
        if isinstance(cause, LocusError):
            return cause
        if isinstance(cause, TimeoutError):
            return Timeout("The tool server did not answer in time.")
        if isinstance(cause, FetchError):
            return ToolServerFailed(WORDS.get(type(cause), "The tool server can't be reached."))
    # Not their texts: these hold addresses, and words of the server.
    logger.info("A tool server has failed: %s", ", ".join(type(each).__name__ for each in _causes(error)))
    return ToolServerFailed()


def _causes(error: BaseException) -> Iterator[BaseException]:
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _causes(each)
    elif error.__cause__ is not None:
        yield from _causes(error.__cause__)
