"""How pydantic models appear in the API's schema, and which addresses it leaves out."""

from __future__ import annotations

from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.plumbing import ResolvedComponent
from pydantic.json_schema import model_json_schema

ALIASES = ("/chunks/",)
"""Addresses that serve an operation of `/api/v1` once more."""


class RequestShapes(PydanticExtension):  # type: ignore[no-untyped-call]
    """Pydantic models as requests may have them: what has a default may be left out."""

    priority = 1

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        """Return the schema of a model for a direction, its parts registered as components."""
        mode: Any = "validation" if direction == "request" else "serialization"
        schema = model_json_schema(self.target, ref_template="#/components/schemas/{model}", mode=mode)
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(name, ResolvedComponent.SCHEMA, part, name)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(component)
        return schema


def without_aliases(endpoints: list[Any]) -> list[Any]:
    """Keep each operation once: a hook of the schema's generator."""
    return [endpoint for endpoint in endpoints if not endpoint[0].startswith(ALIASES)]
