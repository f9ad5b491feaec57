"""The shapes of conversations in the API."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, create_model, field_validator

from accounts.models import Session
from accounts.principal import Principal
from assistants.events import ChatResult, WithheldChatResult
from assistants.inputs import ChatInput
from assistants.models import ChatMessage, SessionAssistant
from assistants.search_scope import SearchScope
from core.api.lists import ListPage, ListQuery
from core.api.operations import ApiQuery
from core.api.validation import ABSENT, ApiModel
from core.text.storable import is_storable
from runs.models import Execution, ExecutionStatus
from runs.request import CallFields
from runs.schemas import Failure, FeedbackDetails, PartialResult
from runs.withholding import withhold

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class SessionsQuery(ListQuery):
    """Which conversations are listed."""

    q: str | None = Field(None, max_length=200, description="Only those with this text in title or question.")


class SwitchedTools(ApiModel):
    """What a conversation searches; at least one is on."""

    documents: Annotated[bool, Field(strict=True)] = ABSENT
    web: Annotated[bool, Field(strict=True)] = ABSENT

    def as_columns(self) -> dict[str, bool]:
        """Return what is stored, for the switches that are given."""
        columns = {"documents": "searches_documents", "web": "searches_web"}
        return {columns[name]: getattr(self, name) for name in self.model_fields_set}


class SessionPatch(ApiModel):
    """What can be changed of a conversation."""

    title: Title = ABSENT
    pinned: Annotated[bool, Field(strict=True)] = ABSENT
    shared: Annotated[
        bool, Field(strict=True, description="Whether members of its workspace can read it.")
    ] = ABSENT
    scope: SearchScope = ABSENT
    tools: SwitchedTools = ABSENT
    assistant_id: Annotated[
        UUID | None, Field(description="Who answers, with its own tools; null is nobody in particular.")
    ] = ABSENT

    def as_columns(self) -> dict[str, Any]:
        """Return the columns to set."""
        given = self.model_fields_set
        columns: dict[str, Any] = {
            name: getattr(self, name) for name in ("title", "pinned", "shared") if name in given
        }
        if "assistant_id" in given:
            columns["assistant_id"] = self.assistant_id
        if "scope" in given:
            columns["search_scope"] = self.scope.as_column()
        return columns | (self.tools.as_columns() if "tools" in given else {})

    @field_validator("title")
    @classmethod
    def _storable(cls, title: str) -> str:
        if not is_storable(title):
            raise ValueError("must not hold characters that can't be stored")
        return title


class NewSession(SessionPatch):
    """A conversation to begin."""

    workspace_id: UUID | None = Field(None, description="It pays, and its members may be shown it.")


class SessionDetails(ApiModel):
    """A conversation."""

    id: UUID
    title: str = Field(description="Made from the first question until it is renamed; empty before that.")
    pinned: bool
    shared: bool
    is_own: bool = Field(description="False for one that another member shares: it can only be read.")
    shared_by: str | None = Field(description="Of one that another member shares: that member's name.")
    workspace_id: UUID
    external_user_id: str | None
    scope: SearchScope
    tools: SwitchedTools
    assistant_id: UUID | None = Field(description="Who answers; null is nobody in particular.")
    created_at: datetime
    updated_at: datetime = Field(description="Of the last message or change.")

    @classmethod
    def of(cls, principal: Principal, session: Session) -> Self:
        """Return a session as a principal sees it."""
        is_own = session.user_id == principal.user_id
        scope = {name: session.search_scope.get(name) for name in SearchScope.model_fields}
        return cls(
            id=session.pk,
            title=session.title,
            pinned=session.pinned and is_own,
            shared=session.shared,
            is_own=is_own,
            shared_by=None if is_own else session.user.name or session.user.email,
            workspace_id=session.workspace_id,
            external_user_id=session.external_user_id,
            # What a reader can't see should not be named to it.
            scope=SearchScope.model_validate(scope if is_own else dict.fromkeys(scope)),
            assistant_id=_assistant_of(session) if is_own else None,
            tools=SwitchedTools(documents=session.searches_documents, web=session.searches_web),
            created_at=session.created_at,
            updated_at=session.updated_at,
        )


def _assistant_of(session: Session) -> UUID | None:
    try:
        link: SessionAssistant = session.assistant_link
    except SessionAssistant.DoesNotExist:
        return None
    return link.assistant_id


class SessionList(ListPage[SessionDetails]):
    """Conversations: those that are pinned first, then the one that was used last."""


class DeletedConversationRows(ApiModel):
    """How many of what is gone."""

    sessions: int = ABSENT
    messages: int
    executions: int
    events: int
    documents: int = ABSENT


class DeletedConversation(ApiModel):
    """The receipt of a deletion."""

    deleted: DeletedConversationRows


# --- Messages --------------------------------------------------------------------------------------------

NewMessage = create_model(
    "NewMessage",
    __base__=(ChatInput, CallFields),
    __doc__="A question to a conversation, or an earlier one to be answered again.",
)


class NewMessageInputs(ApiModel):
    """The same without waiting for the answer."""

    inputs: ChatInput


class MessageAnswer(ApiModel):
    """One answer to a message: an execution of `chat`."""

    execution_id: str
    status: ExecutionStatus
    result: ChatResult | WithheldChatResult | PartialResult | None
    error: Failure | None
    feedback: FeedbackDetails | None = Field(description="Only to the person who asked.")
    created_at: datetime
    finished_at: datetime | None

    @staticmethod
    def of(execution: Execution, hidden: Collection[str], *, is_own: bool) -> dict[str, Any]:
        """Return an answer as stored, without what comes from documents that its reader does not see."""
        return {
            "execution_id": execution.pk,
            "status": execution.status,
            "result": withhold(execution.result, hidden),
            "error": execution.error,
            "feedback": execution.feedback if is_own else None,
            "created_at": execution.created_at,
            "finished_at": execution.finished_at,
        }


class MessageDetails(ApiModel):
    """A question of a conversation with its answers."""

    id: UUID
    session_id: UUID
    parent_id: UUID | None = Field(description="The message before it; null for a first one.")
    sibling_ids: list[UUID] = Field(
        description="Messages with the same parent, this one included, oldest first: edits make more of them."
    )
    content: str | None = Field(description="The question; null with `unavailable`.")
    document_ids: list[UUID] | None
    answers: list[MessageAnswer] = Field(description="Oldest first; the last one counts for what follows.")
    created_at: datetime
    unavailable: Literal[True] = ABSENT


class MessageList(ListPage[MessageDetails]):
    """The messages of a conversation, oldest first."""


class ExportQuery(ApiQuery):
    """How a conversation is exported."""

    format: Literal["md", "pdf"] = Field("md", description="Markdown or PDF.")
    message_id: UUID | None = Field(
        None, description="The branch that ends with this message; by default the newest one."
    )


def message_of(
    message: ChatMessage, siblings: Collection[UUID], answers: list[dict[str, Any]], *, is_shown: bool
) -> dict[str, Any]:
    """Return a message as JSON; `is_shown` is false for a key that may not see where it was searched."""
    return {
        "id": message.pk,
        "session_id": message.session_id,
        "parent_id": message.parent_id,
        "sibling_ids": list(siblings),
        "content": message.content if is_shown else None,
        "document_ids": message.document_ids if is_shown else None,
        "answers": answers,
        "created_at": message.created_at,
    } | ({} if is_shown else {"unavailable": True})
