"""The page of the API's schema as values for its template."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.api.samples import BODIES
from locus.reference.shapes import FieldRow, TypePart, fields_of, parameter_row, type_of

METHODS = ("get", "post", "put", "patch", "delete")
EVERYWHERE = {"X-External-User-Id", "session_id"}
"""Parameters of every operation: the introduction names them once."""


@dataclass(frozen=True, slots=True)
class BodyType:
    """A content type of a request or reply, with its type."""

    content_type: str
    type: list[TypePart]


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """A reply by its status."""

    status: str
    description: str
    bodies: list[BodyType]

    @property
    def is_error(self) -> bool:
        """Whether it tells that the request failed."""
        return not self.status.startswith(("2", "3"))


@dataclass(frozen=True, slots=True)
class CodeSample:
    """An example in a language."""

    label: str
    source: str


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """An operation of the API."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[FieldRow]
    bodies: list[BodyType]
    replies: list[ReplyRow]
    samples: list[CodeSample]
    example: str
    """The JSON of an example's body, or nothing."""
    can_be_tried: bool
    """Whether a browser can send it as a form of fields: JSON, or no body, and no stream."""


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """The operations of a tag."""

    name: str
    description: str
    entries: list[ReferenceEntry]


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """A named shape of the schema."""

    name: str
    description: str
    fields: list[FieldRow]
    type: list[TypePart]


def groups_of(schema: dict[str, Any]) -> list[ReferenceGroup]:
    """Return the operations by tag, in the order of the tags."""
    entries = list(_entries(schema))
    return [
        ReferenceGroup(
            tag["name"], tag.get("description", ""), [one for name, one in entries if name == tag["name"]]
        )
        for tag in schema["tags"]
    ]


def shapes_of(schema: dict[str, Any]) -> list[ShapeRow]:
    """Return the named shapes in the order of their names."""
    named = schema["components"]["schemas"]
    return [
        ShapeRow(name, shape.get("description", ""), list(fields_of(shape)), type_of(shape))
        for name, shape in sorted(named.items())
    ]


def _entries(schema: dict[str, Any]) -> Iterator[tuple[str, ReferenceEntry]]:
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            if method in METHODS:
                yield operation["tags"][0], _entry(path, method, operation)


def _entry(path: str, method: str, operation: dict[str, Any]) -> ReferenceEntry:
    bodies = _bodies(operation.get("requestBody", {}))
    replies = [
        ReplyRow(status, reply.get("description", ""), _bodies(reply))
        for status, reply in operation["responses"].items()
    ]
    samples = [CodeSample(each["label"], each["source"]) for each in operation.get("x-codeSamples", [])]
    good = [body.content_type for reply in replies if not reply.is_error for body in reply.bodies]
    summary, description = operation.get("summary", ""), operation.get("description", "")
    # The summary is the first paragraph of the description.
    rest = description.partition("\n\n")[2]
    return ReferenceEntry(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=summary,
        description=rest,
        parameters=[
            parameter_row(each) for each in operation.get("parameters", []) if each["name"] not in EVERYWHERE
        ],
        bodies=bodies,
        replies=replies,
        samples=samples,
        example=_example(operation),
        can_be_tried=all(body.content_type == "application/json" for body in bodies[-1:])
        and all(kind == "application/json" for kind in good[:1]),
    )


def _bodies(holder: dict[str, Any]) -> list[BodyType]:
    return [
        BodyType(name, type_of(media.get("schema", {}))) for name, media in holder.get("content", {}).items()
    ]


def _example(operation: dict[str, Any]) -> str:
    body = BODIES.get(operation["operationId"])
    return json.dumps(body, indent=2, ensure_ascii=False) if body is not None else ""
