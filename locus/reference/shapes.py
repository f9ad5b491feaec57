"""JSON schemas in words: the name of a type, and the fields of an object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
WORDS = {
    "date-time": "date and time",
    "uuid": "UUID",
    "uri": "URL",
    "binary": "file",
}
LIMITS = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("exclusiveMinimum", "more than {}"),
    ("exclusiveMaximum", "less than {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} entries"),
    ("maxItems", "at most {} entries"),
)


@dataclass(frozen=True, slots=True)
class TypePart:
    """A piece of a type's name; `shape` names the shape it leads to, or is empty."""

    text: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field of an object, or a parameter of a request."""

    name: str
    type: list[TypePart]
    is_required: bool
    description: str
    limits: str
    place: str = ""
    """Of a parameter: path, query, header."""


def type_of(schema: Schema) -> list[TypePart]:
    """Return the name of a type, such as `list of`, `Chunk`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return [TypePart(name, name)]
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            return _unique(_joined(type_of(each) for each in schema[union]))
    if "const" in schema:
        return [TypePart(json.dumps(schema["const"]))]
    if "enum" in schema:
        return [TypePart(" | ".join(json.dumps(each) for each in schema["enum"]))]
    return _plain_type(schema)


def _plain_type(schema: Schema) -> list[TypePart]:
    kind = schema.get("type")
    if isinstance(kind, list):
        return _joined([TypePart(str(each))] for each in kind)
    if kind == "array":
        if "prefixItems" in schema:
            inner = list(_joined((type_of(each) for each in schema["prefixItems"]), ", "))
            return [TypePart("["), *inner, TypePart("]")]
        return [TypePart("list of "), *type_of(schema.get("items", {}))]
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return [TypePart("object of "), *type_of(schema["additionalProperties"])]
    return [TypePart(WORDS.get(schema.get("format", ""), str(kind or "any JSON")))]


def _joined(types: Iterable[list[TypePart]], between: str = " | ") -> list[TypePart]:
    found: list[TypePart] = []
    for each in types:
        found += [TypePart(between), *each] if found else each
    return found


def _unique(parts: list[TypePart]) -> list[TypePart]:
    """Return a union without members that it has twice."""
    members: list[list[TypePart]] = [[]]
    for part in parts:
        if part.text == " | ":
            members.append([])
        else:
            members[-1].append(part)
    once = list({str(member): member for member in members}.values())
    return _joined(once)


def fields_of(schema: Schema) -> Iterator[FieldRow]:
    """Yield the fields of an object."""
    required = set(schema.get("required", []))
    for name, field in schema.get("properties", {}).items():
        yield FieldRow(name, type_of(field), name in required, field.get("description", ""), limits_of(field))


def parameter_row(parameter: Schema) -> FieldRow:
    """Return a parameter as a row."""
    schema = parameter.get("schema", {})
    return FieldRow(
        parameter["name"],
        type_of(schema),
        bool(parameter.get("required")),
        parameter.get("description", ""),
        limits_of(schema),
        parameter["in"],
    )


def limits_of(schema: Schema) -> str:
    """Return the bounds and the default of a value, in words."""
    options = [schema, *(each for each in schema.get("anyOf", []) if isinstance(each, Mapping))]
    found = [words.format(each[name]) for each in options for name, words in LIMITS if name in each]
    default = schema.get("default")
    if default is not None and default != []:
        found.append(f"default {json.dumps(default, ensure_ascii=False)}")
    return ", ".join(dict.fromkeys(found))
