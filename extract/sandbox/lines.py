"""Writes findings as JSON lines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from core.errors import DocumentError
from core.locations import PageBox
from extract.base import Element, Finding, Pictured


def dump_finding(finding: Finding) -> bytes:
    """Return `{"type": class name, …}` and a line end; an element's spans are in their stored form.

    Of an element's picture, readers know the fingerprint alone.
    """
    if isinstance(finding, Element):
        return _line("Element", _element(finding))
    if isinstance(finding, Pictured):
        return _line("Pictured", _picture(finding))
    return _line(type(finding).__name__, asdict(finding))


def dump_error(error: DocumentError) -> bytes:
    """Return the line that reports why extraction stopped."""
    return _line("Error", {"code": error.code, "message": error.message})


def dump_end() -> bytes:
    """Return the line that marks a complete stream."""
    return _line("End", {})


def _element(element: Element) -> dict[str, Any]:
    return {
        "kind": element.kind,
        "text": element.text,
        "spans": element.located.dump(),
        "level": element.level,
        "font_size": element.font_size,
        "bold": element.bold,
        "italic": element.italic,
        "lead": element.lead,
        "rows": element.rows,
        "picture": element.picture and element.picture.fingerprint,
        "is_label": element.is_label,
        "language": element.language,
        "speaker": element.speaker,
        "voice": element.voice,
    }


def _picture(picture: Pictured) -> dict[str, Any]:
    return {
        "area": picture.area and _area(picture.area),
        "fingerprint": picture.fingerprint,
        "words": [{"text": words.text, "spans": words.dump()} for words in picture.words],
    }


def _area(area: PageBox) -> dict[str, Any]:
    return {"page": [area.page.number, area.page.width, area.page.height], "box": area.box.corners}


def _line(type_name: str, values: dict[str, Any]) -> bytes:
    return orjson.dumps({"type": type_name, **values}, option=orjson.OPT_APPEND_NEWLINE)
