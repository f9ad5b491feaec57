"""Documents and chunks as JSON, in exactly the contract's shapes (§3)."""

from __future__ import annotations

from typing import Any

import langcodes

from core.locations import InFile
from kb.models import Chunk, Document, Status


def document_json(document: Document) -> dict[str, Any]:
    """Return the contract's Document."""
    error = {"code": document.error_code, "message": document.error_message} if document.error_code else None
    return {
        "id": str(document.pk),
        "name": document.name,
        "external_id": document.external_id,
        "workspace_id": str(document.workspace_id),
        "external_user_id": document.external_user_id,
        "session_id": str(document.session_id) if document.session_id else None,
        "status": document.status,
        "stage": document.stage,
        "progress": round(document.progress, 4),
        "activity": document.activity,
        "searchable": document.searchable,
        "error": error,
        "warnings": document.warnings,
        "url": document.url or None,
        "attached_to": str(document.attached_to_id) if document.attached_to_id else None,
        "file_type": document.file_type or None,
        "mime_type": document.mime_type or None,
        "size": document.size,
        "sha256": document.sha256 or None,
        "page_count": document.page_count,
        "duration": document.duration,
        "chunk_count": document.chunk_count,
        "language": document.language,
        "tags": document.tags,
        "metadata": document.metadata,
        **{
            name: _iso(getattr(document, name))
            for name in ("created_at", "updated_at", "text_ready_at", "indexed_at")
        },
    }


NO_QUALITY: dict[str, Any] = {
    "unit": None,
    "units": None,
    "unreadable": [],
    "without_text": [],
    "recognised": [],
    "characters": 0,
    "tables": 0,
    "pictures": 0,
    "seconds": None,
    "hidden": [],
    "language": None,
    "warnings": [],
}


def quality_json(document: Document) -> dict[str, Any]:
    """Return the quality report; before there is one, and of a document that failed, an empty one."""
    report = document.quality if document.status != Status.FAILED else None
    return {"document_id": str(document.pk), "status": document.status} | NO_QUALITY | (report or {})


def chunk_json(chunk: Chunk, filename: str) -> dict[str, Any]:
    """Return the contract's chunk; `bbox` is null for kinds without coordinates."""
    located = chunk.located
    boxes = [box.as_json() for box in chunk.boxes(located)]
    return {
        "id": str(chunk.pk),
        "document_id": str(chunk.document_id),
        "text": chunk.text,
        "page_number": chunk.page_number,
        "bbox": boxes or None,
        "start_time": chunk.start_time,
        "end_time": chunk.end_time,
        "metadata": {
            "filename": filename,
            "languages": [iso_639_3(chunk.language)] if chunk.language else [],
            "modality": chunk.modality,
            "headings": chunk.headings,
            **place_in_file(located.files()),
            **_picture(chunk),
        },
        **({"replaced_by": [str(id) for id in chunk.replaced_by]} if chunk.replaced_by is not None else {}),
    }


def _picture(chunk: Chunk) -> dict[str, Any]:
    """Return the box of the picture that a chunk is of, and which of its text a machine has written."""
    if chunk.shown is None:
        return {}
    shown = {"picture": chunk.shown.area.as_json() if chunk.shown.area else None}
    if chunk.shown.described_from is None:
        return shown
    return shown | {
        "machine_made": chunk.shown.machine_made(len(chunk.text)),
        "described_by": chunk.shown.described_by,
    }


def place_in_file(places: list[InFile]) -> dict[str, Any]:
    """Return the one place around all `places`: `lines`, `slides`, `sheet`, `cells`, as apply to the file."""
    lines = [place.lines for place in places if place.lines]
    slides = {place.slide for place in places if place.slide is not None}
    sheet = next((place.sheet for place in places if place.sheet is not None), None)
    cells = [place.cells for place in places if place.cells and place.sheet == sheet]
    merged = {
        "lines": [min(first for first, _ in lines), max(last for _, last in lines)] if lines else None,
        "slides": sorted(slides) or None,
        "sheet": sheet,
        "cells": _range(cells) if cells else None,
    }
    return {name: value for name, value in merged.items() if value is not None}


def _range(cells: list[tuple[int, int, int, int]]) -> str:
    """Return the smallest range around `cells` as spreadsheets write it: `A1:C7`."""
    top, left, bottom, right = zip(*cells, strict=True)
    first, last = f"{_column(min(left))}{min(top)}", f"{_column(max(right))}{max(bottom)}"
    return first if first == last else f"{first}:{last}"


def _column(number: int) -> str:
    """Return a column's letters: 1 is A, 27 is AA."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def iso_639_3(language: str) -> str:
    """Return the three-letter code of an ISO 639-1 language: `en` is `eng`."""
    return str(langcodes.Language.get(language).to_alpha3())


def _iso(moment: Any) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
