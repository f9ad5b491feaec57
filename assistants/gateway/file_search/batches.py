"""Several files that are put into a store at once. The id of a batch names them: nothing is stored."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from accounts.principal import Principal
from assistants.gateway.file_search.finding import files_of_store
from assistants.gateway.file_search.shapes import Json, StoreContent, state_in_store
from core.errors import NotFound
from kb.models import Document, DocumentCollection

MOST_FILES = 100
MARK = "vsfb_"
SIZE = 16
TIME_SIZE = 8


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Files of a store that came together. Its id grants nothing: whoever shows it sees what it may see."""

    created_at: int
    file_ids: Sequence[UUID]

    @property
    def id(self) -> str:
        """The name of the batch."""
        packed = self.created_at.to_bytes(TIME_SIZE) + b"".join(id.bytes for id in self.file_ids)
        return MARK + base64.urlsafe_b64encode(packed).decode().rstrip("=")

    @classmethod
    def new(cls, file_ids: Sequence[UUID]) -> FileBatch:
        """Return a batch of now."""
        return cls(int(datetime.now(UTC).timestamp()), file_ids)

    @classmethod
    def parse(cls, id: str) -> FileBatch:
        """Return the batch of an id, or raise `NotFound`."""
        letters = id.removeprefix(MARK)
        try:
            packed = base64.b64decode(letters + "=" * (-len(letters) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise NotFound from None
        files, rest = divmod(len(packed) - TIME_SIZE, SIZE)
        if not id.startswith(MARK) or rest or not 1 <= files <= MOST_FILES:
            raise NotFound
        places = range(TIME_SIZE, len(packed), SIZE)
        ids = [UUID(bytes=packed[place : place + SIZE]) for place in places]
        return cls(int.from_bytes(packed[:TIME_SIZE]), ids)

    def documents(self, principal: Principal, store: DocumentCollection) -> list[Document]:
        """Return those that are still in the store; raise `NotFound` if none is."""
        found = list(files_of_store(principal, store).filter(pk__in=self.file_ids))
        if not found:
            raise NotFound
        return found

    def as_json(self, store: DocumentCollection, documents: Sequence[Document]) -> Json:
        """Return the batch as clients know it."""
        content = StoreContent(Counter(map(state_in_store, documents)))
        return {
            "id": self.id,
            "object": "vector_store.files_batch",
            "created_at": self.created_at,
            "vector_store_id": str(store.pk),
            "status": content.state,
            "file_counts": content.counts_json(),
        }
