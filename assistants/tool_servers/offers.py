"""What a server says of its tools: foreign text, so it is bounded before it is stored or shown.

A schema keeps its shape, and of its words only short descriptions: they are read by models.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import JsonValue

from assistants.models.tool_servers import MAX_TOOL_NAME
from core.text.storable import is_storable
from core.text.visible_text import one_line

MOST_TOOLS = 50
"""So many of a server's tools are looked at."""
MAX_DESCRIPTION, MAX_PROPERTY_DESCRIPTION, MAX_SCHEMA = 500, 120, 6000
"""Characters; a tool with a longer schema is left out."""
MOST_DEPTH = 6
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_TOOL_NAME}}}")
_KEPT = frozenset(
    {
        *("type", "enum", "const", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "multipleOf", "required"),
    }
)
_OF_SCHEMAS = frozenset({"items", "additionalProperties"})
_LISTS_OF_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server describes it."""

    name: str
    description: str
    input_schema: dict[str, JsonValue]

    @classmethod
    def of(cls, name: str, description: str | None, schema: Mapping[str, Any]) -> OfferedTool | None:
        """Return a tool within bounds; None for one that can't be brought into them."""
        shape = _shape(schema, 0)
        if not _NAME.fullmatch(name) or not isinstance(shape, dict):
            return None
        if len(json.dumps(shape)) > MAX_SCHEMA:
            return None
        return cls(name, _short(description, MAX_DESCRIPTION), {**shape, "type": "object"})

    def names(self) -> set[str]:
        """Return the names of its arguments, and the values to choose from: what it asks to be told."""
        return set(_names_in(self.input_schema))

    def as_stored(self) -> dict[str, Any]:
        """Return what is stored."""
        return asdict(self)


def stored_offers(stored: Iterable[Mapping[str, Any]]) -> list[OfferedTool]:
    """Return the stored tools of a server."""
    return [OfferedTool(**each) for each in stored]


def _names_in(shape: JsonValue) -> Iterator[str]:
    if isinstance(shape, list):
        for each in shape:
            yield from _names_in(each)
    if not isinstance(shape, dict):
        return
    for key, value in shape.items():
        if key == "properties" and isinstance(value, dict):
            yield from value
            yield from (name for inner in value.values() for name in _names_in(inner))
        elif key == "enum" and isinstance(value, list):
            yield from (str(each) for each in value)
        elif key in _OF_SCHEMAS | _LISTS_OF_SCHEMAS:
            yield from _names_in(value)


def _short(text: object, most: int) -> str:
    if not isinstance(text, str) or not is_storable(text):
        return ""
    line = " ".join(one_line(text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _shape(schema: object, depth: int) -> JsonValue:
    """Return the shape of a schema: types and bounds, names, and short descriptions."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, Mapping) or depth > MOST_DEPTH:
        return {}
    kept: dict[str, JsonValue] = {}
    for key, value in schema.items():
        if key in _KEPT:
            if (plain := _plain(value)) is not None:
                kept[key] = plain
        elif key == "description" and depth:
            kept[key] = _short(value, MAX_PROPERTY_DESCRIPTION)
        elif key == "properties" and isinstance(value, Mapping):
            names = [name for name in value if isinstance(name, str) and _NAME.fullmatch(name)]
            kept[key] = {name: _shape(value[name], depth + 1) for name in names}
        elif key in _OF_SCHEMAS:
            kept[key] = _shape(value, depth + 1)
        elif key in _LISTS_OF_SCHEMAS and isinstance(value, list):
            kept[key] = [_shape(each, depth + 1) for each in value[:20]]
    return kept


def _plain(value: object) -> JsonValue:
    """Return a value without anything nested but short lists."""
    if isinstance(value, list):
        return [_plain(each) for each in value[:50] if not isinstance(each, list | Mapping)]
    if isinstance(value, str):
        return _short(value, MAX_PROPERTY_DESCRIPTION)
    if isinstance(value, float) and not math.isfinite(value):
        # Neither PostgreSQL nor a model's API takes a number that is none.
        return None
    return value if isinstance(value, bool | int | float) else None
