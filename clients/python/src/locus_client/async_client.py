"""The client for `asyncio`: the methods of `Client`, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel

from locus_client import calls, models
from locus_client.calls import FINISHED, Call
from locus_client.client import cursor_of
from locus_client.connection import TIMEOUT, Following, api_of, headers_of
from locus_client.errors import error_of
from locus_client.events import Event

Reply = TypeVar("Reply", bound=BaseModel)


class AsyncClient:
    """Speaks with one server; see `Client`, whose methods these are."""

    def __init__(
        self, address: str, key: str, *, external_user_id: str | None = None, timeout: Any = TIMEOUT
    ) -> None:
        headers = headers_of(key, external_user_id)
        self._http = httpx.AsyncClient(base_url=api_of(address), headers=headers, timeout=timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, call: Call[Reply]) -> Reply:
        """Send any call and return its reply."""
        response = await self._http.request(call.method, call.path, **call.options())
        if response.is_error:
            raise error_of(response)
        return call.reply.model_validate(response.json())

    async def me(self) -> models.Me:
        """Return who is asking."""
        return await self.send(calls.me())

    # --- Documents ---

    async def upload(
        self, *files: Any, urls: tuple[str, ...] = (), **fields: Any
    ) -> list[models.AddedDocument]:
        """Add files and web pages."""
        return (await self.send(calls.upload(files, urls, fields))).documents

    async def add_text(self, text: str, name: str | None = None, **fields: Any) -> models.AddedDocument:
        """Add a text."""
        return (await self.send(calls.add_text(text, name, fields))).documents[0]

    async def documents(self, **filters: Any) -> AsyncIterator[models.Document]:
        """Yield the documents of a list, page by page."""
        cursor: str | None = None
        while True:
            page = await self.send(calls.documents(filters, cursor))
            for document in page.results:
                yield document
            if page.next is None:
                return
            cursor = cursor_of(page.next)

    async def document(self, id: object) -> models.Document:
        """Return a document."""
        return await self.send(calls.document(id))

    async def wait(self, id: object, *, every_secs: float = 0.5) -> models.Document:
        """Return a document once it is read, or could not be."""
        while (document := await self.document(id)).status not in FINISHED:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(every_secs)
        return document

    async def change_document(self, id: object, **changes: Any) -> models.Document:
        """Change a document."""
        return await self.send(calls.change_document(id, changes))

    async def delete_document(self, id: object) -> models.DeletionReceipt:
        """Delete a document with all that was made from it."""
        return await self.send(calls.delete_document(id))

    async def file(self, id: object) -> bytes:
        """Return the original file."""
        response = await self._http.get(calls.file_path(id))
        if response.is_error:
            raise error_of(response)
        return response.content

    async def collections(self) -> list[models.CollectionDetails]:
        """Return the collections, at most 200."""
        return (await self.send(calls.collections())).results

    async def make_collection(self, name: str, workspace_id: str | None = None) -> models.CollectionDetails:
        """Make a collection."""
        return await self.send(calls.make_collection(name, workspace_id))

    # --- Questions ---

    async def chunk(self, id: object) -> models.Chunk:
        """Return a passage with its place."""
        return await self.send(calls.chunk(id))

    async def search(self, query: str, **options: Any) -> models.SearchResult:
        """Return the passages that answer a query best."""
        return await self.send(calls.search(query, options))

    async def rag_search(self, query: str, **options: Any) -> models.RagResult:
        """Return an answer from documents, with its citations."""
        return await self.send(calls.rag_search(query, options))

    def stream(self, tool: str, **inputs: Any) -> AsyncIterator[Event]:
        """Run a tool and yield its events, over lost connections."""
        return self._follow(Following.of_tool(tool, inputs))

    def events(self, execution_id: str, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of a run after one with a number, and go on until it ends."""
        return self._follow(Following.of_execution(execution_id, after))

    async def execution(self, id: str) -> models.ExecutionDetails:
        """Return a run."""
        return await self.send(calls.execution(id))

    async def cancel(self, id: str) -> models.ExecutionDetails:
        """Stop a run."""
        return await self.send(calls.cancel(id))

    async def _follow(self, following: Following) -> AsyncIterator[Event]:
        while not following.is_over():
            try:
                async with self._http.stream(**following.request()) as response:
                    if response.is_error:
                        await response.aread()
                    following.accept(response)
                    async for line in response.aiter_lines():
                        if (event := following.feed(line)) is not None:
                            yield event
                        if following.is_over():
                            return
            except (httpx.TransportError, ValueError):
                pass
            if not following.is_over():
                await asyncio.sleep(following.wait_secs())
