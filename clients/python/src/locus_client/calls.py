"""Every call of the API, once, for both clients: a method, an address, what is sent, what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from locus_client import models

Reply = TypeVar("Reply", bound=BaseModel)
Files = Sequence[str | IO[bytes] | tuple[str, bytes | IO[bytes]]]
FINISHED = ("ready", "partial", "failed", "cancelled")
"""The statuses of a document that is not being read any more."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Reply]):
    """A request, and the model of its reply."""

    reply: type[Reply]
    method: str
    path: str
    json: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[tuple[str, Any]] = ()

    def options(self) -> dict[str, Any]:
        """Return what httpx takes besides method and address."""
        options: dict[str, Any] = {"params": {k: v for k, v in self.params.items() if v is not None}}
        if self.json is not None:
            options["json"] = self.json
        if self.files or self.form:
            options |= {"data": self.form, "files": self.files}
        return options


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def _quoted(id: object) -> str:
    """Return an id as a part of an address."""
    return quote(str(id), safe="")


def _parts(files: Files, urls: Sequence[str]) -> list[tuple[str, Any]]:
    """Return files and addresses as the parts of a form."""
    parts: list[tuple[str, Any]] = []
    for file in files:
        if isinstance(file, str):
            parts.append(("files", (Path(file).name, Path(file).read_bytes())))
        else:
            parts.append(("files", file))
    # Without a file name, a part is a field.
    return parts + [("urls", (None, url)) for url in urls]


def me() -> Call[models.Me]:
    """`GET me`."""
    return Call(models.Me, "GET", "me")


def upload(files: Files, urls: Sequence[str], fields: Mapping[str, Any]) -> Call[models.AddedDocuments]:
    """`POST documents`."""
    form = {name: value for name, value in fields.items() if value is not None}
    return Call(models.AddedDocuments, "POST", "documents", form=form, files=_parts(files, urls))


def add_text(text: str, name: str | None, fields: Mapping[str, Any]) -> Call[models.AddedDocuments]:
    """`POST documents`."""
    return Call(models.AddedDocuments, "POST", "documents", given(text=text, name=name, **fields))


def documents(filters: Mapping[str, Any], cursor: str | None) -> Call[models.DocumentList]:
    """`GET documents`."""
    return Call(models.DocumentList, "GET", "documents", params={**filters, "cursor": cursor})


def document(id: object) -> Call[models.Document]:
    """`GET documents/{id}`."""
    return Call(models.Document, "GET", f"documents/{_quoted(id)}")


def change_document(id: object, changes: Mapping[str, Any]) -> Call[models.Document]:
    """`PATCH documents/{id}`."""
    return Call(models.Document, "PATCH", f"documents/{_quoted(id)}", dict(changes))


def delete_document(id: object) -> Call[models.DeletionReceipt]:
    """`DELETE documents/{id}`."""
    return Call(models.DeletionReceipt, "DELETE", f"documents/{_quoted(id)}")


def collections() -> Call[models.CollectionList]:
    """`GET collections`."""
    return Call(models.CollectionList, "GET", "collections", params={"limit": 200})


def make_collection(name: str, workspace_id: object | None) -> Call[models.CollectionDetails]:
    """`POST collections`."""
    body = given(name=name, workspace_id=workspace_id)
    return Call(models.CollectionDetails, "POST", "collections", body)


def file_path(id: object) -> str:
    """Return where a document's original file is."""
    return f"documents/{_quoted(id)}/file"


def chunk(id: object) -> Call[models.Chunk]:
    """`GET chunks/{id}`."""
    return Call(models.Chunk, "GET", f"chunks/{_quoted(id)}")


def search(query: str, options: Mapping[str, Any]) -> Call[models.SearchResult]:
    """`POST search`."""
    return Call(models.SearchResult, "POST", "search", given(query=query, **options))


def rag_search(query: str, options: Mapping[str, Any]) -> Call[models.RagResult]:
    """`POST tools/rag_search`."""
    return Call(models.RagResult, "POST", "tools/rag_search", given(query=query, **options))


def execution(id: object) -> Call[models.ExecutionDetails]:
    """`GET executions/{id}`."""
    return Call(models.ExecutionDetails, "GET", f"executions/{_quoted(id)}")


def cancel(id: object) -> Call[models.ExecutionDetails]:
    """`POST executions/{id}/cancel`."""
    return Call(models.ExecutionDetails, "POST", f"executions/{_quoted(id)}/cancel")
