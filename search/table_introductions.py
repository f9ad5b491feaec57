"""The text before each table: “The future minimum lease payments are as follows:”.

It stands in the chunk of the table's first part, or in the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from accounts.principal import Principal
from core.text.tables import header_of, is_table, table_start
from kb.models import Chunk
from search.contexts import ChunkContext

CHUNKS_BEFORE = 4
"""A long table is several chunks; the text stands before the first one."""
MOST_CHARS = 400
"""So much of its end is read."""

Place = tuple[UUID, int]
"""A document, and where in its reading order."""
Part = tuple[list[str], str]
"""Headings and text of a chunk."""


def with_introductions(principal: Principal, contexts: Sequence[ChunkContext]) -> list[ChunkContext]:
    """Return contexts, tables with the end of the text before them, below the same heading."""
    before = _chunks_before(principal, [context for context in contexts if is_table(context.text)])
    return [
        replace(context, introduction=_introduction(context, before)) if is_table(context.text) else context
        for context in contexts
    ]


def _introduction(table: ChunkContext, before: Mapping[Place, Part]) -> str:
    """Return what stands above the first part of a table, in its chunk or in the one before it.

    What stands above it in its own chunk needs no second place.
    """
    if table_start(table.text):
        return ""
    for back in range(1, CHUNKS_BEFORE + 1):
        headings, text = before.get((table.document_id, table.ordinal - back), ([], ""))
        if tuple(headings) != table.headings:
            return ""
        is_part = is_table(text) and header_of(text) == header_of(table.text)
        if not is_part:
            return "" if is_table(text) else text[-MOST_CHARS:]
        if above := text[: table_start(text)]:
            return above
    return ""


def _chunks_before(principal: Principal, tables: Sequence[ChunkContext]) -> dict[Place, Part]:
    if not tables:
        return {}
    places = (
        Q(document_id=each.document_id, ordinal__gte=each.ordinal - CHUNKS_BEFORE, ordinal__lt=each.ordinal)
        for each in tables
    )
    live = Chunk.objects.restricted_to(principal).filter(reduce(or_, places), replaced_by=None)
    rows = live.values_list("document_id", "ordinal", "headings", "text")
    return {(document, ordinal): (headings, text) for document, ordinal, headings, text in rows}
