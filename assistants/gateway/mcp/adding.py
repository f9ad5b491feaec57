"""The tool `add_document`: a text or a page of the web becomes a document, and its ingestion is followed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import Annotated, Self

from django.conf import settings
from django.core.files.base import ContentFile
from pydantic import Field, model_validator

from accounts.principal import Principal
from accounts.roles import KeyScope
from assistants.gateway.cited import address_of
from assistants.gateway.mcp.running import Json, ModelCall
from core.api.validation import validated
from core.errors import ValidationError
from core.threads import in_database
from kb.api.limits import refuse_beyond_quota
from kb.api.uploads import NewDocuments, WebAddress
from kb.document_events import UPDATE, follow_document
from kb.documents import MAX_NAME, add_document, add_url
from kb.models import Document

MOST_CHARS = 1_000_000
MOST_WAIT_SECS = 300
DESCRIPTION = (
    "Adds a text, or the web page at an address, as a document, and waits until it is read. Its status says "
    "whether it can be found already."
)


class AddArguments(NewDocuments):
    """What `add_document` takes."""

    text: str | None = Field(None, min_length=1, max_length=MOST_CHARS, description="Plain text or Markdown.")
    url: WebAddress | None = None
    name: str | None = Field(None, min_length=1, max_length=MAX_NAME, description="The name of a text.")
    wait_secs: Annotated[int, Field(ge=0, le=MOST_WAIT_SECS, strict=True)] = Field(
        60, description="How long to wait for it to be read."
    )

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.text is None) == (self.url is None):
            raise ValidationError("Send text or url, one of them.", param="text")
        return self


async def add(call: ModelCall) -> Json:
    """Add the document and return its state after the wait; raise `LocusError`."""
    call.principal.require_scope(KeyScope.WRITE)
    asked = validated(AddArguments, call.arguments)
    principal, document, is_duplicate = await in_database(_added, call.principal, asked)
    state: Json = {"id": str(document.pk), "name": document.name, "status": str(document.status)}
    # What is not read in time is read later.
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(asked.wait_secs),
            aclosing(follow_document(principal, document, settings.SSE_PING_SECS)) as events,  # type: ignore[type-var]
        ):
            async for event in events:
                if event is not None and event.event == UPDATE:
                    state = {name: event.data[name] for name in ("id", "name", "status", "error")}
                    await call.report(event.seq, None, f"{event.data['stage']} {event.data['progress']:.0%}")
    return state | {"duplicate": is_duplicate, "url": address_of({"document_id": document.pk}, call.base_url)}


def _added(principal: Principal, asked: AddArguments) -> tuple[Principal, Document, bool]:
    principal = asked.asker(principal)
    details = asked.details(principal)
    refuse_beyond_quota(principal, details.workspace_id, 1)
    if asked.url is not None:
        return principal, *add_url(principal, asked.url, details)
    file = ContentFile((asked.text or "").encode(), name=asked.name or "text.txt")
    return principal, *add_document(principal, file, details)
