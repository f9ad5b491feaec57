"""Findings as JSON lines: what the child writes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from ingestion.errors import IngestionError
from ingestion.extract.base import Element, Finding


def dump_finding(finding: Finding) -> bytes:
    """Return `{"type": class name, …}` and a line end; an element's spans are in their stored form."""
    if isinstance(finding, Element):
        return _line("Element", _element(finding))
    return _line(type(finding).__name__, asdict(finding))


def dump_error(error: IngestionError) -> bytes:
    """Return the line that says why there is no more."""
    return _line("Error", {"code": error.code, "message": error.message})


def dump_end() -> bytes:
    """Return the line that says that nothing is missing."""
    return _line("End", {})


def _element(element: Element) -> dict[str, Any]:
    return {
        "kind": element.kind,
        "text": element.text,
        "spans": element.located.dump(),
        "level": element.level,
        "font_size": element.font_size,
        "bold": element.bold,
        "rows": element.rows,
    }


def _line(type_name: str, values: dict[str, Any]) -> bytes:
    return orjson.dumps({"type": type_name, **values}, option=orjson.OPT_APPEND_NEWLINE)
