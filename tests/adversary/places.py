"""Every place of the API where an id goes, read from its schema: path, query, header, body, nested lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver
from pydantic import BaseModel

METHODS = ("get", "post", "put", "patch", "delete")
AN_ID = re.compile(r"(^|[_-])ids?$", re.IGNORECASE)

KINDS = {
    "assistant_id": "assistant",
    "assistant_ids": "assistant",
    "binding_id": "binding",
    "key_id": "key",
    "workspace": "workspace",
    "workspace_id": "workspace",
    "workspace_ids": "workspace",
    "session_id": "session",
    "chunk_id": "chunk",
    "collection_id": "collection",
    "collection_ids": "collection",
    "document_ids": "document",
    "attached_to": "document",
    "user_id": "member",
    "parent_id": "message",
    "message_id": "message",
}
"""By the name of a field or query parameter, the kind of thing that its id is of."""
PATHS = {
    "api-keys": "key",
    "assistants": "assistant",
    "bindings": "binding",
    "c": "session",
    "chunks": "chunk",
    "collections": "collection",
    "documents": "document",
    "executions": "execution",
    "external-users": "external user",
    "external-user-deletions": "deletion",
    "exports": "export",
    "imports": "import",
    "invitations": "invitation",
    "members": "member",
    "messages": "message",
    "passkeys": "passkey",
    "sessions": "session",
    "tool-servers": "tool server",
    "webhooks": "webhook",
    "workspaces": "workspace",
}
"""By the segment before it, the kind of thing that an id in a path is of."""
WHOLE_PATHS = {"/api/v1/workspaces/{id}/restore": "deleted workspace"}
"""Paths whose id is of another kind than the segment before it says."""
QUERIES = {
    ("/api/v1/documents", "id"): "document",
    ("/api/v1/documents/summary", "id"): "document",
    ("/api/v1/documents/bulk", "id"): "document",
    ("/api/v1/documents/bulk", "ids"): "document",
    ("/api/v1/notifications/read", "ids"): "notification",
}
"""Query parameters and fields whose names do not say it."""
NO_THINGS = {
    "external_id": "a word of the caller's own; it is looked up only where the caller may list",
    "external_user_id": "whom a key speaks for: `alice as x` and the others try it",
    "X-External-User-Id": "the same",
    "after": "a position in the order of ids, or in a stream; nothing is looked up by it",
    "Last-Event-ID": "a number in a stream that the path names",
}
"""Fields that look like ids but name no thing of a tenant, and why."""
PARAMETERS = {"number": "1", "name": "rag_search"}
"""Parameters of paths that are no ids."""

Shape = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where an id goes in the requests of one operation."""

    method: str
    path: str
    where: str
    """“path”, “query”, or the content type of a body."""
    name: tuple[str, ...]
    model: str = ""
    """The model of the body; an operation may take several."""
    is_list: bool = False

    @property
    def kind(self) -> str | None:
        """The kind of thing, None if nobody has said so."""
        [*_, name] = self.name
        if self.where == "path" and self.path in WHOLE_PATHS:
            return WHOLE_PATHS[self.path]
        if self.where == "path":
            before = re.search(rf"([\w-]+)/\{{{name}\}}", self.path)
            return PATHS.get(before[1]) if before else None
        return QUERIES.get((self.path, name)) or KINDS.get(name)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, self.path, self.model or self.where, ".".join(self.name))))


@dataclass(frozen=True)
class Page:
    """An address of the URL configuration."""

    pattern: str

    @property
    def kind(self) -> str | None:
        """The kind of thing its one id is of; None without an id, or if nobody has named the kind."""
        before = re.search(r"([\w-]+)/<(?:uuid|str|int):(?:id|pk)>", self.pattern)
        return PATHS.get(before[1]) if before else None

    def address(self, id: str) -> str:
        """Return the address with an id in it."""
        return "/" + re.sub(r"<\w+:\w+>", id, self.pattern)


def pages(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[Page]:
    """Yield every address of the URL configuration."""
    for each in patterns:
        path = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from pages(each.url_patterns, path)
        else:
            yield Page(path)


def operations(schema: Shape) -> Iterator[tuple[str, str, Shape]]:
    """Yield method, path and declaration of every operation."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                yield method.upper(), path, operation


def places(schema: Shape) -> Iterator[Place]:
    """Yield every place where an id goes, those that nobody has named included."""
    for method, path, operation in operations(schema):
        for one in operation.get("parameters", ()):
            name = one["name"]
            shape = _resolved(schema, one["schema"])
            if one["in"] == "path" and name not in PARAMETERS:
                yield Place(method, path, "path", (name,))
            elif one["in"] != "path" and name not in NO_THINGS and _is_id(schema, name, shape):
                yield Place(method, path, one["in"], (name,), is_list=shape.get("type") == "array")
        for where, model, shape in bodies(schema, operation):
            for names, is_list in _fields(schema, shape):
                yield Place(method, path, where, names, model, is_list)


def bodies(schema: Shape, operation: Shape) -> Iterator[tuple[str, str, Shape]]:
    """Yield content type, name and shape of each model that an operation's body may be."""
    for where, content in operation.get("requestBody", {}).get("content", {}).items():
        for name, shape in _alternatives(schema, content["schema"]):
            nested = [
                (f"{name}.{field}.{inner}", shape, field, inner_shape)
                for field, one in shape.get("properties", {}).items()
                for inner, inner_shape in _choices(schema, one)
            ]
            if not nested:
                yield where, name, shape
            for full, outer, field, inner_shape in nested:
                yield where, full, outer | {"properties": outer["properties"] | {field: inner_shape}}


def _choices(schema: Shape, shape: Shape) -> list[tuple[str, Shape]]:
    """Return the models of a field that may be one of several; none of another field."""
    named = [(name, inner) for name, inner in _alternatives(schema, shape) if name]
    return named if len(named) > 1 else []


def _alternatives(schema: Shape, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield the objects that a shape may be, by the names of their models."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        inner = schema["components"]["schemas"][name]
        if "anyOf" in inner or "oneOf" in inner:
            yield from _alternatives(schema, inner)
        else:
            yield name, inner
    elif "anyOf" in shape or "oneOf" in shape:
        for one in shape.get("anyOf", shape.get("oneOf", ())):
            yield from _alternatives(schema, one)
    else:
        yield "", shape


def _fields(schema: Shape, shape: Shape) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the path to each field that holds an id or a list of ids."""
    for name, one in shape.get("properties", {}).items():
        for _, inner in _alternatives(schema, one):
            if inner.get("type") == "object" or "properties" in inner:
                yield from (((name, *rest), is_list) for rest, is_list in _fields(schema, inner))
            elif name not in NO_THINGS and _is_id(schema, name, inner) and inner.get("type") != "null":
                yield (name,), inner.get("type") == "array"


def ids_in(model: type[BaseModel]) -> set[str]:
    """Return the names of a model's fields that take ids, with a point before an inner one."""
    return ids_of(model.model_json_schema())


def ids_of(schema: Shape) -> set[str]:
    """Return the same of a JSON schema."""
    inner = {"components": {"schemas": schema.get("$defs", {})}}
    return {".".join(names) for names, _ in _fields(inner, schema)}


def _is_id(schema: Shape, name: str, shape: Shape) -> bool:
    formats = {one.get("format") for _, one in _alternatives(schema, shape)}
    formats |= {
        item.get("format")
        for _, one in _alternatives(schema, shape)
        for _, item in _alternatives(schema, one.get("items", {}))
    }
    return "uuid" in formats or bool(AN_ID.search(name))


def _resolved(schema: Shape, shape: Shape) -> Shape:
    return next(iter(dict(_alternatives(schema, shape)).values()))
