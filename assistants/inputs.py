"""What the tool `chat` takes: a new question of a conversation, or one that is to be answered again."""

from __future__ import annotations

import operator
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from accounts.principal import Principal
from assistants.conversations import require_scope_visible, session_of
from assistants.models import ChatMessage
from core.errors import NotFound, ValidationError
from kb.documents import documents_by_id
from search.inputs import QueryText
from search.web.inputs import WebFilters, WebSearchInput

DEEP = "Split the question, look each part up, and answer with a report: sections, evidence, what is missing."


class ChatInput(BaseModel):
    """A message to a conversation, which the request's `session_id` names."""

    model_config = ConfigDict(extra="forbid")

    content: QueryText | None = Field(None, description="The question, as the person wrote it.")
    document_ids: list[UUID] | None = Field(
        None, max_length=1000, description="Search only these documents for this message."
    )
    parent_id: UUID | None = Field(
        None,
        description="The message before it: by default the newest one; null begins the conversation anew.",
    )
    message_id: UUID | None = Field(
        None, description="Instead of `content`: answer this message of the conversation again."
    )
    deep: bool = Field(False, strict=True, exclude_if=operator.not_, description=DEEP)
    web: WebFilters | None = Field(None, description="Which pages are searched for, where the web is on.")

    @model_validator(mode="after")
    def _one_question(self) -> ChatInput:
        if (self.content is None) == (self.message_id is None):
            raise ValidationError("Send either content or message_id.", param="content")
        if self.message_id and (self.document_ids is not None or "parent_id" in self.model_fields_set):
            raise ValidationError("A message that is answered again stays as it is.", param="message_id")
        # Filters that contradict each other are refused now.
        self.web_search(self.content or "?")
        return self

    def web_search(self, query: str) -> WebSearchInput:
        """Return the inputs of a web search for `query` with this message's filters."""
        return WebSearchInput(query=query, filters=self.web)

    def check_visible(self, principal: Principal) -> None:
        """Raise `NotFound` naming the message or document that the principal can't see."""
        session = session_of(principal)
        require_scope_visible(principal, session.search_scope, "scope.")
        documents_by_id(principal, self.document_ids or [])
        for name in ("parent_id", "message_id"):
            self._require_message(principal, name)

    def _require_message(self, principal: Principal, name: str) -> None:
        id = getattr(self, name)
        own = ChatMessage.objects.restricted_to(principal).filter(session=principal.session_id, pk=id)
        if id is not None and not own.exists():
            raise NotFound("There is no such message in this conversation.", param=name)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the inputs as they are stored: the question is stored with its message alone."""
        return super().model_dump(**options | {"exclude": {"content"}, "exclude_none": True})
