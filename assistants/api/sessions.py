"""`/api/v1/sessions` and `/api/v1/sessions/{id}`."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db.models import Case, F, When
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from assistants.conversations import (
    change_session,
    create_session,
    delete_session,
    listed_sessions,
    own_session,
    visible_session,
)
from assistants.schemas import (
    DeletedConversation,
    DeletedConversationRows,
    NewSession,
    SessionDetails,
    SessionList,
    SessionPatch,
    SessionsQuery,
)
from core.api.lists import page_of
from core.api.operations import ReadBody, operation, respond

LONG_AGO = timedelta(days=365_000)
"""Pinned sessions are listed as if they had been used so much later: one column orders the list."""


class SessionsView(APIView):
    """The caller's conversations."""

    # Asking needs no more than reading.
    required_scope = "read"

    @operation(
        "sessions_list", tag="Conversations", query=SessionsQuery, answers={200: SessionList}, fails=(404,)
    )
    def get(self, request: Request, query: SessionsQuery) -> SessionList:
        """List the caller's conversations, pinned ones first, then by their last use."""
        principal = principal_of(request)
        place = Case(When(pinned=True, then=F("updated_at") + LONG_AGO), default=F("updated_at"))
        sessions = listed_sessions(principal, query.q).annotate(place=place)
        shown = partial(SessionDetails.of, principal)
        return page_of(SessionList, sessions, shown, request, query, ("-place", "id"))

    @operation(
        "sessions_create", tag="Conversations", body=NewSession, answers={201: SessionDetails}, fails=(404,)
    )
    def post(self, request: Request, read_body: ReadBody[NewSession]) -> Response:
        """Begin a conversation."""
        principal = principal_of(request)
        body = read_body()
        session = create_session(principal, body.workspace_id, body.as_columns())
        address = request.build_absolute_uri(f"/api/v1/sessions/{session.pk}")
        return respond(SessionDetails.of(principal, session), 201, {"Location": address})


class SessionView(APIView):
    """One conversation."""

    required_scope = "read"

    @operation("sessions_read", tag="Conversations", answers={200: SessionDetails}, fails=(404,))
    def get(self, request: Request, id: UUID) -> SessionDetails:
        """Return a conversation of one's own, or one that a member shares in its workspace."""
        principal = principal_of(request)
        return SessionDetails.of(principal, visible_session(principal, id))

    @operation(
        "sessions_update",
        tag="Conversations",
        body=SessionPatch,
        answers={200: SessionDetails},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[SessionPatch]) -> SessionDetails:
        """Rename, pin or share a conversation, or change what it searches."""
        principal = principal_of(request)
        session = own_session(principal, id)
        change_session(principal, session, read_body().as_columns())
        return SessionDetails.of(principal, session)

    @operation("sessions_delete", tag="Conversations", answers={200: DeletedConversation}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> DeletedConversation:
        """Delete a conversation with its messages, answers and attached documents; return a receipt."""
        principal = principal_of(request)
        counts = delete_session(principal, own_session(principal, id))
        return DeletedConversation(deleted=DeletedConversationRows(**counts))
