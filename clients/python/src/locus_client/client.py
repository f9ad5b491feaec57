"""The client that waits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Self, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import BaseModel

from locus_client import calls, models
from locus_client.calls import FINISHED, Call
from locus_client.connection import TIMEOUT, Following, api_of, headers_of
from locus_client.errors import error_of
from locus_client.events import Event

Reply = TypeVar("Reply", bound=BaseModel)


class Client:
    """Speaks with one server, with a key or token, and perhaps for an external user.

    Every method raises `LocusError` for what the server refuses, and httpx's errors where it is not reached.
    """

    def __init__(
        self, address: str, key: str, *, external_user_id: str | None = None, timeout: Any = TIMEOUT
    ) -> None:
        headers = headers_of(key, external_user_id)
        self._http = httpx.Client(base_url=api_of(address), headers=headers, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, call: Call[Reply]) -> Reply:
        """Send any call and return its reply; one of your own is `Call(Model, "GET", "path")`."""
        response = self._http.request(call.method, call.path, **call.options())
        if response.is_error:
            raise error_of(response)
        return call.reply.model_validate(response.json())

    def me(self) -> models.Me:
        """Return who is asking."""
        return self.send(calls.me())

    # --- Documents ---

    def upload(self, *files: Any, urls: tuple[str, ...] = (), **fields: Any) -> list[models.AddedDocument]:
        """Add files (paths, open files, or pairs of name and bytes) and web pages, in this order."""
        return self.send(calls.upload(files, urls, fields)).documents

    def add_text(self, text: str, name: str | None = None, **fields: Any) -> models.AddedDocument:
        """Add a text."""
        return self.send(calls.add_text(text, name, fields)).documents[0]

    def documents(self, **filters: Any) -> Iterator[models.Document]:
        """Yield the documents of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.send(calls.documents(filters, cursor))
            yield from page.results
            if page.next is None:
                return
            cursor = cursor_of(page.next)

    def document(self, id: object) -> models.Document:
        """Return a document."""
        return self.send(calls.document(id))

    def wait(self, id: object, *, every_secs: float = 0.5) -> models.Document:
        """Return a document once it is read, or could not be: look at its `status` and `error`."""
        while (document := self.document(id)).status not in FINISHED:
            time.sleep(every_secs)
        return document

    def change_document(self, id: object, **changes: Any) -> models.Document:
        """Change title, tags, metadata, external id or workspace."""
        return self.send(calls.change_document(id, changes))

    def delete_document(self, id: object) -> models.DeletionReceipt:
        """Delete a document with all that was made from it."""
        return self.send(calls.delete_document(id))

    def file(self, id: object) -> bytes:
        """Return the original file."""
        response = self._http.get(calls.file_path(id))
        if response.is_error:
            raise error_of(response)
        return response.content

    def collections(self) -> list[models.CollectionDetails]:
        """Return the collections, at most 200."""
        return self.send(calls.collections()).results

    def make_collection(self, name: str, workspace_id: str | None = None) -> models.CollectionDetails:
        """Make a collection."""
        return self.send(calls.make_collection(name, workspace_id))

    # --- Questions ---

    def chunk(self, id: object) -> models.Chunk:
        """Return a passage with its place."""
        return self.send(calls.chunk(id))

    def search(self, query: str, **options: Any) -> models.SearchResult:
        """Return the passages that answer a query best."""
        return self.send(calls.search(query, options))

    def rag_search(self, query: str, **options: Any) -> models.RagResult:
        """Return an answer from documents, with its citations."""
        return self.send(calls.rag_search(query, options))

    def stream(self, tool: str, **inputs: Any) -> Iterator[Event]:
        """Run a tool and yield its events; a connection that is lost is taken up again after the last one.

        Raise `LocusError` if the run fails, `ConnectionLost` if the server is not reached any more.
        """
        return self._follow(Following.of_tool(tool, inputs))

    def events(self, execution_id: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a run after one with a number, and go on until it ends."""
        return self._follow(Following.of_execution(execution_id, after))

    def execution(self, id: str) -> models.ExecutionDetails:
        """Return a run: its status, and its result once it has ended."""
        return self.send(calls.execution(id))

    def cancel(self, id: str) -> models.ExecutionDetails:
        """Stop a run."""
        return self.send(calls.cancel(id))

    def _follow(self, following: Following) -> Iterator[Event]:
        while not following.is_over():
            try:
                with self._http.stream(**following.request()) as response:
                    if response.is_error:
                        response.read()
                    following.accept(response)
                    for line in response.iter_lines():
                        if (event := following.feed(line)) is not None:
                            yield event
                        if following.is_over():
                            return
            except (httpx.TransportError, ValueError):
                pass
            if not following.is_over():
                time.sleep(following.wait_secs())


def cursor_of(address: str) -> str:
    """Return the cursor in the address of a page."""
    return parse_qs(urlsplit(address).query)["cursor"][0]
