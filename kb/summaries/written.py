"""Summaries that a language model has written (`search.summaries`), as documents keep them.

Each sentence has the places that support it. Like the extractive one, a summary belongs to one state of a
document. The model's words are kept: they are deleted with the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.principal import Principal
from kb.models import Chunk, Document
from kb.summaries.making import PlacedSentence

VERSION = 1
"""To be raised with every change of what is stored."""


@dataclass(frozen=True, slots=True)
class WrittenStatement:
    """A sentence of a model, and the sentences of the document that support it."""

    text: str
    places: Sequence[PlacedSentence]


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """What a model has written about a document; `model` is its name."""

    model: str
    abstract: Sequence[WrittenStatement]
    key_points: Sequence[WrittenStatement]


def written_summary_of(principal: Principal, document: Document) -> WrittenSummary | None:
    """Return the summary of the document's present state, None if no model has written one."""
    stored = document.written_summary
    if stored is None or any(stored.get(name) != value for name, value in _state(document).items()):
        return None
    parts = [*stored["abstract"], *stored["key_points"]]
    ids = {UUID(id) for part in parts for id, _, _ in part["places"]}
    chunks = {chunk.pk: chunk for chunk in Chunk.objects.addressable_by(principal).filter(pk__in=ids)}

    def statements(name: str) -> list[WrittenStatement]:
        return [
            WrittenStatement(
                part["text"], [PlacedSentence(chunks[UUID(id)], *at) for id, *at in part["places"]]
            )
            for part in stored[name]
            # A sentence whose place may no longer be read stands on nothing.
            if all(UUID(id) in chunks for id, _, _ in part["places"])
        ]

    return WrittenSummary(stored["model"], statements("abstract"), statements("key_points"))


def store_written_summary(principal: Principal, document: Document, written: WrittenSummary) -> None:
    """Keep a summary, unless the document was processed again meanwhile."""
    stored = _state(document) | {
        "model": written.model,
        "abstract": [_stored(each) for each in written.abstract],
        "key_points": [_stored(each) for each in written.key_points],
    }
    same = Document.objects.addressable_by(principal).filter(pk=document.pk, indexed_at=document.indexed_at)
    same.update(written_summary=stored)


def _state(document: Document) -> dict[str, Any]:
    indexed_at = document.indexed_at
    return {"version": VERSION, "indexed_at": indexed_at.isoformat() if indexed_at else ""}


def _stored(statement: WrittenStatement) -> dict[str, Any]:
    places = [[str(each.chunk.pk), each.start, each.end] for each in statement.places]
    return {"text": statement.text, "places": places}
