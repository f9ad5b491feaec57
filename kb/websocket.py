"""Live changes of documents over a websocket: `/ws/documents?workspace=`."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from accounts.access.sockets import OBJECT, PrincipalConsumer, Refused
from core.errors import NotFound
from core.pubsub import document_topic, subscriber
from core.threads import in_database
from kb import representations
from kb.models import Document
from kb.scheduled_deletion import NOT_MARKED


class DocumentsConsumer(PrincipalConsumer):
    """Sends `document_update` and `document_deleted` for the caller's documents of one workspace."""

    _task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start following the workspace named by `?workspace=`, by default the caller's own."""
        workspace_id = self._workspace_id()
        if workspace_id not in self.principal.roles:
            raise Refused(OBJECT)
        self._task = asyncio.create_task(self._follow(workspace_id))

    def _workspace_id(self) -> UUID:
        given = self.query("workspace")
        try:
            return UUID(given) if given else self.principal.default_workspace_id()
        except (ValueError, NotFound):
            raise Refused(OBJECT) from None

    async def disconnect(self, code: int) -> None:
        """Stop following."""
        if self._task is not None:
            self._task.cancel()

    async def _follow(self, workspace_id: UUID) -> None:
        async with subscriber().subscribe(document_topic(workspace_id)) as messages:
            seen = await in_database(self._visible_ids, workspace_id)
            while True:
                changed = {await messages.get()}
                while not messages.empty():
                    changed.add(messages.get_nowait())
                try:
                    # A membership or key may have ended since the handshake.
                    await self.identify_again()
                except Refused as refused:
                    self.end_soon(refused.code)
                    return
                for id in changed - {""}:
                    await self._send_change(id, seen)

    def _visible_ids(self, workspace_id: UUID) -> set[str]:
        documents = Document.objects.restricted_to(self.principal).filter(
            NOT_MARKED, workspace_id=workspace_id
        )
        return {str(id) for id in documents.values_list("pk", flat=True)}

    async def _send_change(self, id: str, seen: set[str]) -> None:
        document = await in_database(self._read, id)
        if document is not None:
            seen.add(id)
            await self.send_json({"event": "document_update", "data": document})
        elif id in seen:
            # Only clients that saw the document may learn of its deletion.
            seen.discard(id)
            await self.send_json({"event": "document_deleted", "data": {"id": id}})

    def _read(self, id: str) -> dict[str, Any] | None:
        document = Document.objects.restricted_to(self.principal).filter(NOT_MARKED, pk=id).first()
        return representations.Document.of(document).as_json() if document else None
