"""`/api/v1/sessions/{id}/messages`: the thread, and new messages over every transport of a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.idempotency import IDEMPOTENCY_KEY
from accounts.scope import continue_as
from assistants.conversations import delete_message, own_session, visible_session
from assistants.events import ChatResult
from assistants.exporting import exported
from assistants.messages import own_message
from assistants.schemas import (
    DeletedConversation,
    DeletedConversationRows,
    ExportQuery,
    MessageList,
    NewMessage,
    NewMessageInputs,
)
from assistants.thread import ThreadView, messages_of
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import operation, respond
from core.api.sse import AnyAccept, StreamQuery
from core.errors import LocusError, ValidationError
from runs.api import inputs_of, reply_accepted, reply_to
from runs.models import CHAT
from runs.registry import tool_named
from runs.request import Call
from runs.schemas import RUN_ERRORS, Accepted, ToolEvent

OLDEST_FIRST = ("created_at", "id")


class StoredMessages(ListPage[dict[str, Any]]):
    """The page as it was stored: its results may have been written by an earlier version."""


class MessagesView(APIView):
    """The messages of a conversation."""

    content_negotiation_class = AnyAccept
    # Asking needs no more than reading.
    required_scope = "read"

    @operation(
        "messages_list", tag="Conversations", query=ListQuery, answers={200: MessageList}, fails=(404,)
    )
    def get(self, request: Request, id: UUID, query: ListQuery) -> Response:
        """List the messages with all their answers, oldest first."""
        principal = principal_of(request)
        session = visible_session(principal, id)
        view = ThreadView.of(principal, session)
        rows = messages_of(principal, session)
        page = page_of(StoredMessages, rows, view.shown, request, query, OLDEST_FIRST)
        return respond(page)

    @operation(
        "messages_create",
        tag="Conversations",
        query=StreamQuery,
        headers=[IDEMPOTENCY_KEY],
        body=NewMessage,
        answers={(200, "application/json"): ChatResult, (200, "text/event-stream"): ToolEvent},
        fails=RUN_ERRORS,
    )
    def post(self, request: Request, id: UUID, query: StreamQuery) -> HttpResponseBase:
        """Ask; `stream: true` answers with Server-Sent Events, else with the result."""
        return reply_to(request, _call(request, id, lambda: request.data), query)


class ExecuteMessageView(APIView):
    """Ask without waiting."""

    required_scope = "read"

    @operation(
        "messages_execute",
        tag="Conversations",
        headers=[IDEMPOTENCY_KEY],
        body=NewMessageInputs,
        answers={202: Accepted},
        fails=RUN_ERRORS,
    )
    def post(self, request: Request, id: UUID) -> Response:
        """Ask with `{"inputs": {…}}`, and say where to follow the answer."""
        return reply_accepted(request, _call(request, id, lambda: inputs_of(request)))


def _call(request: Request, id: UUID, read: Callable[[], Any]) -> Call:
    """Return the call of `chat` within a session of the caller's own.

    Raise `NotFound`, or `Forbidden` for a session that is shared with the caller.
    """
    try:
        body = read()
    except (LocusError, APIException):
        # Who can't see the session is not told what is wrong with the body.
        own_session(principal_of(request), id)
        raise
    if not isinstance(body, dict):
        raise ValidationError("The body must be a JSON object.")
    if str(body.get("session_id", id)) != str(id):
        raise ValidationError("The request names two different sessions.", param="session_id")
    whom = body.get("external_user_id")
    asker = principal_of(request).for_external_user(whom if isinstance(whom, str) else None)
    continue_as(asker)
    own_session(asker, id)
    return Call.parse(principal_of(request), tool_named(CHAT), body | {"session_id": str(id)})


class MessageView(APIView):
    """One message."""

    required_scope = "read"

    @operation("messages_delete", tag="Conversations", answers={200: DeletedConversation}, fails=(404,))
    def delete(self, request: Request, id: UUID, message_id: UUID) -> DeletedConversation:
        """Delete a message, all that follow from it, and their answers; return a receipt."""
        principal = principal_of(request)
        message = own_message(principal, own_session(principal, id), message_id)
        return DeletedConversation(deleted=DeletedConversationRows(**delete_message(principal, message)))


class SessionExportView(APIView):
    """A conversation as a file."""

    content_negotiation_class = AnyAccept

    @operation(
        "sessions_export",
        tag="Conversations",
        query=ExportQuery,
        answers={(200, "text/markdown"): bytes, (200, "application/pdf"): bytes},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: ExportQuery) -> HttpResponse:
        """Return one branch of a conversation as Markdown or PDF, its citations as numbered footnotes."""
        principal = principal_of(request)
        session = visible_session(principal, id)
        return exported(principal, session, query.format, query.message_id)
