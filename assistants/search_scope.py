"""What a conversation or an assistant searches, as the API takes and shows it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from core.api.validation import ApiModel
from search.inputs import Words


class SearchScope(ApiModel):
    """Which documents are searched; null narrows nothing."""

    workspace_ids: list[UUID] | None = Field(None, max_length=100)
    document_ids: list[UUID] | None = Field(None, max_length=1000)
    tags: Words | None = Field(None, description="Documents with any of these tags.")
    collection_ids: list[UUID] | None = Field(
        None, max_length=100, description="Documents in any of these collections."
    )

    def as_column(self) -> dict[str, Any]:
        """Return what is stored."""
        return self.model_dump(mode="json", exclude_none=True)
