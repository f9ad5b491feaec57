"""Following an execution: what is stored, then what comes, for whoever may see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from django.conf import settings

from accounts.principal import Principal
from kb.models import Document
from kb.notifications import listener
from kb.threads import in_database
from search.executions.journal import StoredEvent, Wanted, read, topic
from search.models import Execution

HIDDEN = {"text_preview": None, "quote": None, "quotes": None, "bbox": None, "unavailable": True}
LAST = 2**31 - 1


async def follow(
    principal: Principal, execution_id: str, after: int, ping_secs: float
) -> AsyncIterator[StoredEvent | None]:
    """Yield the events with a sequence number above `after` until the terminal one; None when all is quiet.

    The caller has decided that the principal may see the execution; what it no longer sees of the contexts'
    documents is blanked here, whether the events are new or replayed.
    """
    async with listener().subscribe(topic(execution_id)) as news:
        while True:
            found = await read(Wanted(execution_id, after))
            for event in found.events:
                yield await _as_seen_by(principal, event)
                after = event.seq
            if found.is_over or (found.events and found.events[-1].is_terminal):
                return
            if not await _is_news(news, after, ping_secs):
                yield None


async def ended(execution_id: str) -> Execution:
    """Wait until the execution is over, wherever it runs, and return it."""
    async with listener().subscribe(topic(execution_id)) as news:
        while not (await read(Wanted(execution_id, LAST))).is_over:
            await _is_news(news, 0, settings.SSE_PING_SECS)
    return await in_database(Execution.unscoped.get, pk=execution_id)


async def _is_news(news: asyncio.Queue[str], seq: int, secs: float) -> bool:
    """Wait for events above `seq`, or for the sign that news were lost; False when there is neither."""
    try:
        # A lease that expires is no news: nobody is left to announce it.
        async with asyncio.timeout(min(secs, settings.RUN_LEASE_SECS)):
            while (number := await news.get()) and int(number) <= seq:
                pass
    except TimeoutError:
        return False
    return True


async def _as_seen_by(principal: Principal, event: StoredEvent) -> StoredEvent:
    if not event.data.get("contexts"):
        return event
    return replace(event, data=await in_database(without_invisible, principal, event.data))


def without_invisible(principal: Principal, data: Any) -> Any:
    """Return an event's data or a result with the contexts blanked whose document the reader no longer sees.

    They keep `rank` and `document_id` (contract §2).
    """
    if not data or not data.get("contexts"):
        return data
    named = {context["document_id"] for context in data["contexts"]}
    documents = Document.objects.addressable_by(principal).filter(pk__in=named)
    seen = {str(pk) for pk in documents.values_list("pk", flat=True)}
    contexts = [
        context if context["document_id"] in seen else _blanked(context) for context in data["contexts"]
    ]
    return data | {"contexts": contexts}


def _blanked(context: dict[str, Any]) -> dict[str, Any]:
    return {"rank": context["rank"], "document_id": context["document_id"], **HIDDEN}
