"""Documents and chunks as JSON, in exactly the contract's shapes (§3)."""

from __future__ import annotations

from typing import Any

import langcodes

from kb.models import Chunk, Document


def document_json(document: Document) -> dict[str, Any]:
    """Return the contract's Document."""
    error = {"code": document.error_code, "message": document.error_message} if document.error_code else None
    return {
        "id": str(document.pk),
        "name": document.name,
        "workspace_id": str(document.workspace_id),
        "external_user_id": document.external_user_id,
        "session_id": str(document.session_id) if document.session_id else None,
        "status": document.status,
        "stage": document.stage,
        "progress": round(document.progress, 4),
        "searchable": document.searchable,
        "error": error,
        "warnings": document.warnings,
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


def chunk_json(chunk: Chunk, filename: str) -> dict[str, Any]:
    """Return the contract's chunk; `bbox` is null for kinds without coordinates."""
    boxes = [box.as_json() for box in chunk.located.boxes()]
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
        },
        **({"replaced_by": [str(id) for id in chunk.replaced_by]} if chunk.replaced_by is not None else {}),
    }


def iso_639_3(language: str) -> str:
    """Return the three-letter code of an ISO 639-1 language: `en` is `eng`."""
    return str(langcodes.Language.get(language).to_alpha3())


def _iso(moment: Any) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
