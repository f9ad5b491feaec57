"""The life of one document as a stream: its state now, its state after each change, its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID

from accounts.access.right_watch import require_right, watched
from accounts.principal import Principal
from core.pubsub import document_topic, listener
from core.threads import in_database
from kb.models import FINISHED, Document
from kb.representations import document_json

UPDATE, END = "document_update", "document_end"


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """One event of the stream."""

    seq: int
    event: str
    data: dict[str, Any]


async def follow_document(
    principal: Principal, document: Document, ping_secs: float
) -> AsyncIterator[DocumentEvent | None]:
    """Yield the document at once and after every change until it is finished; None when all is quiet.

    The stream also ends when the document is deleted or moved out of the reader's sight: the two must not be
    told apart. Raise `Unauthenticated` within seconds when the principal's right ends. Between two looks no
    database connection is held.
    """
    seq = 0
    last: dict[str, Any] | None = None
    async for looked, state in _looks(principal, document.pk, document.workspace_id, ping_secs):
        if looked is Reason.QUIET:
            yield None
        if state and state != last:
            seq, last = seq + 1, state
            yield DocumentEvent(seq, UPDATE, state)
        if not state or state["status"] in FINISHED:
            ending = {"id": str(document.pk), "status": state["status"] if state else None}
            yield DocumentEvent(seq + 1, END, ending)
            return


class Reason(Enum):
    """Why the document was looked at."""

    NEWS = "news"
    QUIET = "quiet"


async def _looks(
    principal: Principal, id: UUID, workspace_id: UUID, ping_secs: float
) -> AsyncIterator[tuple[Reason, dict[str, Any] | None]]:
    """Yield what the reader sees of the document: now, at its news, and when there was none for a while."""
    while True:
        async with (
            listener().subscribe(document_topic(workspace_id)) as news,
            watched(principal, partial(news.put_nowait, "")),
        ):
            reason, state = Reason.NEWS, await _look(principal, id)
            yield reason, state
            while state and state["workspace_id"] == str(workspace_id):
                reason = await _wait(id, news, ping_secs)
                state = await _look(principal, id)
                yield reason, state
        if not state:
            return
        # It was moved: its news now come under another topic.
        workspace_id = UUID(state["workspace_id"])


async def _wait(id: UUID, news: asyncio.Queue[str], secs: float) -> Reason:
    """Wait for news of the document, or for the sign that news were lost."""
    try:
        async with asyncio.timeout(secs):
            while await news.get() not in (str(id), ""):
                pass
    except TimeoutError:
        return Reason.QUIET
    while not news.empty():
        news.get_nowait()
    return Reason.NEWS


async def _look(principal: Principal, id: UUID) -> dict[str, Any] | None:
    return await in_database(_read, principal, id)


def _read(principal: Principal, id: UUID) -> dict[str, Any] | None:
    require_right(principal)
    found = Document.objects.addressable_by(principal).filter(pk=id).first()
    return document_json(found) if found else None
