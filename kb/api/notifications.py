"""`/api/v1/notifications`: what the caller is told of work that went on without them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.models import Notification, NotificationKind
from accounts.roles import KeyScope
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation
from core.api.validation import ApiModel
from kb.models import Document, Status
from kb.notifications.listing import documents_of, mark_read, notifications_of, unread_of

MOST_MARKED = 200


class NotificationQuery(ListQuery):
    """Which notifications are listed."""

    unread: bool = Field(False, description="Only those that are not read.")


class NotificationDocument(ApiModel):
    """The document that a notification is about, as it is now."""

    name: str
    status: Status
    error_message: str | None

    @classmethod
    def of(cls, row: Document) -> Self:
        """Return what a notification tells of a document."""
        return cls(name=row.name, status=Status(row.status), error_message=row.error_message or None)


class NotificationShape(ApiModel):
    """A notification."""

    id: UUID
    kind: NotificationKind
    workspace_id: UUID
    workspace_name: str
    document_id: UUID | None = Field(description="Null for notifications about a workspace.")
    document: NotificationDocument | None
    is_read: bool
    created_at: datetime

    @classmethod
    def of(cls, row: Notification) -> Self:
        """Return a notification, as yet without what it tells of its document."""
        return cls(
            id=row.pk,
            kind=NotificationKind(row.kind),
            workspace_id=row.workspace_id,
            workspace_name=row.workspace.name,
            document_id=row.document_id,
            document=None,
            is_read=row.read_at is not None,
            created_at=row.created_at,
        )


class NotificationList(ListPage[NotificationShape]):
    """A page of notifications, the newest first."""


class ReadNotifications(ApiModel):
    """The body of `POST notifications/read`."""

    ids: Annotated[list[UUID], Field(max_length=MOST_MARKED)] | None = Field(
        None, description="Which; null: all."
    )


class UnreadCount(ApiModel):
    """How many notifications are left to read."""

    unread: int


class NotificationsView(APIView):
    """The caller's notifications; an external user has none."""

    @operation("notifications_list", tag="Account", query=NotificationQuery, answers={200: NotificationList})
    def get(self, request: Request, query: NotificationQuery) -> NotificationList:
        """List the caller's notifications, the newest first.

        There is one for each document that the caller added whose processing failed, or took more than
        `LONG_WORK_SECS` from the upload to the end. They are kept for 90 days.
        """
        principal = principal_of(request)
        rows = notifications_of(principal)
        if query.unread:
            rows = rows.filter(read_at=None)
        page = page_of(NotificationList, rows, NotificationShape.of, request, query)
        documents = documents_of(principal, {each.document_id for each in page.results if each.document_id})
        for each in page.results:
            document = documents.get(each.document_id) if each.document_id else None
            each.document = NotificationDocument.of(document) if document else None
        return page


class NotificationsReadView(APIView):
    """Marking notifications as read."""

    # A change of the caller's own rows alone: whoever may list them may mark them.
    required_scope = KeyScope.READ

    @operation(
        "notifications_mark_read",
        tag="Account",
        body=ReadNotifications,
        answers={200: UnreadCount},
        fails=(404,),
    )
    def post(self, request: Request, read_body: ReadBody[ReadNotifications]) -> UnreadCount:
        """Mark notifications as read, and return how many are left."""
        principal = principal_of(request)
        mark_read(principal, read_body().ids)
        return UnreadCount(unread=unread_of(principal))
