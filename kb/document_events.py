"""A document's changes as a stream: its present state, its state after each change, its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID

from accounts.access.right_watch import require_right, watch_right
from accounts.principal import Principal
from core.pubsub import document_topic, subscriber
from core.threads import in_database
from kb import models
from kb.models import FINISHED
from kb.representations import Document, DocumentEnd

UPDATE, END = "document_update", "document_end"


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """One event of the stream."""

    seq: int
    event: str
    data: dict[str, Any]


async def follow_document(
    principal: Principal, document: models.Document, ping_secs: float
) -> AsyncIterator[DocumentEvent | None]:
    """Yield the document at once and after every change until it is finished; None as a ping.

    The stream also ends when the document is deleted or moved out of the reader's sight; the two look the
    same. Raises `Unauthenticated` within seconds when the principal's right ends. No database connection is
    held between two reads.
    """
    seq = 0
    last: Document | None = None
    async for looked, state in _document_states(principal, document.pk, document.workspace_id, ping_secs):
        if looked is Reason.QUIET:
            yield None
        if state and state != last:
            seq, last = seq + 1, state
            yield DocumentEvent(seq, UPDATE, state.as_json())
        if not state or state.status in FINISHED:
            end = DocumentEnd(id=document.pk, status=state.status if state else None)
            yield DocumentEvent(seq + 1, END, end.as_json())
            return


class Reason(Enum):
    """Why the document was read."""

    CHANGED = "changed"
    QUIET = "quiet"


async def _document_states(
    principal: Principal, id: UUID, workspace_id: UUID, ping_secs: float
) -> AsyncIterator[tuple[Reason, Document | None]]:
    """Yield the state that the reader sees: now, after changes, and after a while without any."""
    while True:
        async with (
            subscriber().subscribe(document_topic(workspace_id)) as messages,
            watch_right(principal, partial(messages.put_nowait, "")),
        ):
            reason, state = Reason.CHANGED, await _look(principal, id)
            yield reason, state
            while state and state.workspace_id == workspace_id:
                reason = await _wait(id, messages, ping_secs)
                state = await _look(principal, id)
                yield reason, state
        if not state:
            return
        # The document was moved, so its changes are published under another topic.
        workspace_id = state.workspace_id


async def _wait(id: UUID, messages: asyncio.Queue[str], secs: float) -> Reason:
    """Wait for a change of the document, or for the message that messages were lost."""
    try:
        async with asyncio.timeout(secs):
            while await messages.get() not in (str(id), ""):
                pass
    except TimeoutError:
        return Reason.QUIET
    while not messages.empty():
        messages.get_nowait()
    return Reason.CHANGED


async def _look(principal: Principal, id: UUID) -> Document | None:
    return await in_database(_read_document, principal, id)


def _read_document(principal: Principal, id: UUID) -> Document | None:
    require_right(principal)
    found = models.Document.objects.addressable_by(principal).filter(pk=id).first()
    return Document.of(found) if found else None
