"""`/api/v1/workspaces/{id}/webhooks` and `webhooks/{id}`: for admins of workspaces."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.keys_api import DEFAULT_OVERLAP_SECS, MAX_OVERLAP_SECS
from accounts.models import DeliveryStatus, DisabledBecause, Webhook, WebhookDelivery, WebhookEvent
from accounts.webhooks.managing import (
    change_webhook,
    create_webhook,
    delete_webhook,
    rotate_secret,
    send_test,
    visible_webhook,
    webhooks_of,
)
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ApiModel

Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Address = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2048)]
Events = Annotated[list[WebhookEvent], Field(min_length=1, max_length=len(WebhookEvent))]


class WebhookShape(ApiModel):
    """A webhook without its secret."""

    id: UUID
    workspace_id: UUID
    url: str
    description: str
    events: list[WebhookEvent]
    made_by: str | None = Field(description="Whose executions it is told of, too; null once deleted.")
    is_enabled: bool
    disabled_because: DisabledBecause | None = Field(
        description="`admin`; `failures`: all attempts of more than a day failed; `gone`: it answered 410."
    )
    failing_since: datetime | None
    old_secret_until: datetime | None = Field(
        description="Until then messages also have a signature of the secret before the last rotation."
    )
    created_at: datetime

    @classmethod
    def of(cls, row: Webhook, **more: str) -> Self:
        """Return what admins see of a webhook, and `more`."""
        return cls(
            id=row.pk,
            workspace_id=row.workspace_id,
            url=row.url,
            description=row.description,
            events=[WebhookEvent(each) for each in row.events],
            made_by=row.made_by.email if row.made_by else None,
            is_enabled=row.is_enabled,
            disabled_because=DisabledBecause(row.disabled_because) if row.disabled_because else None,
            failing_since=row.failing_since,
            old_secret_until=row.old_secret_until if row.old_secret_signs() else None,
            created_at=row.created_at,
            **more,
        )


class WebhookList(ListPage[WebhookShape]):
    """A page of webhooks."""


class CreatedWebhook(WebhookShape):
    """A new webhook, or one with a new secret, which can't be had again."""

    secret: str


class NewWebhook(ApiModel):
    """The body of `POST workspaces/{id}/webhooks`."""

    url: Address = Field(description="Begins with https://.")
    events: Events
    description: Description = ""


class WebhookPatch(ApiModel):
    """The body of `PATCH webhooks/{id}`; null keeps."""

    url: Address | None = None
    events: Events | None = None
    description: Description | None = None
    is_enabled: bool | None = Field(None, strict=True)


class WebhookRotation(ApiModel):
    """The body of `POST webhooks/{id}/rotate`."""

    overlap_secs: int = Field(
        DEFAULT_OVERLAP_SECS,
        ge=0,
        le=MAX_OVERLAP_SECS,
        strict=True,
        description="For how long messages are signed with the old secret, too.",
    )


class WebhookDeliveryShape(ApiModel):
    """A message to a webhook, and what came of its last attempt."""

    id: UUID = Field(description="Sent as `webhook-id`; the same in all attempts.")
    event: str
    status: DeliveryStatus
    attempts: int
    response_code: int | None = Field(description="Null if there was no response.")
    error: str | None = Field(description="Why there was no response.")
    duration_ms: int
    created_at: datetime
    attempted_at: datetime | None
    next_attempt_at: datetime | None

    @classmethod
    def of(cls, row: WebhookDelivery) -> Self:
        """Return a delivery without its body."""
        return cls(
            id=row.pk,
            event=row.event,
            status=DeliveryStatus(row.status),
            attempts=row.attempts,
            response_code=row.response_code,
            error=row.error or None,
            duration_ms=round(row.duration / timedelta(milliseconds=1)),
            created_at=row.created_at,
            attempted_at=row.attempted_at,
            next_attempt_at=row.next_attempt_at,
        )


class WebhookDeliveryList(ListPage[WebhookDeliveryShape]):
    """A page of deliveries, the newest first."""


class WebhooksView(APIView):
    """The webhooks of a workspace."""

    @operation("webhooks_list", tag="Webhooks", query=ListQuery, answers={200: WebhookList}, fails=(404,))
    def get(self, request: Request, id: UUID, query: ListQuery) -> WebhookList:
        """List the webhooks of a workspace, as an admin; their secrets can't be had again."""
        return page_of(WebhookList, webhooks_of(principal_of(request), id), WebhookShape.of, request, query)

    @operation(
        "webhooks_create", tag="Webhooks", body=NewWebhook, answers={201: CreatedWebhook}, fails=(404,)
    )
    def post(self, request: Request, id: UUID, read_body: ReadBody[NewWebhook]) -> Response:
        """Create a webhook, as an admin, and return it with its secret, shown this once.

        Messages carry ids and states, no names and no words. Of executions, and of documents in
        conversations, only those of the webhook's maker are sent.
        """
        principal = principal_of(request)
        webhooks_of(principal, id)
        body = read_body()
        webhook, secret = create_webhook(principal, id, body.url, body.events, body.description)
        location = request.build_absolute_uri(f"/api/v1/webhooks/{webhook.pk}")
        return respond(CreatedWebhook.of(webhook, secret=secret), 201, {"Location": location})


class WebhookView(APIView):
    """One webhook."""

    @operation("webhooks_read", tag="Webhooks", answers={200: WebhookShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> WebhookShape:
        """Return a webhook."""
        return WebhookShape.of(visible_webhook(principal_of(request), id))

    @operation(
        "webhooks_change", tag="Webhooks", body=WebhookPatch, answers={200: WebhookShape}, fails=(404,)
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[WebhookPatch]) -> WebhookShape:
        """Change a webhook, or switch it on or off."""
        principal = principal_of(request)
        webhook = visible_webhook(principal, id)
        body = read_body()
        change_webhook(
            principal,
            webhook,
            url=body.url,
            events=body.events,
            description=body.description,
            is_enabled=body.is_enabled,
        )
        return WebhookShape.of(webhook)

    @operation("webhooks_delete", tag="Webhooks", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """Delete a webhook with the record of its deliveries."""
        principal = principal_of(request)
        delete_webhook(principal, visible_webhook(principal, id))
        return Response(status=204)


class RotateWebhookView(APIView):
    """A new secret for a webhook."""

    @operation(
        "webhooks_rotate", tag="Webhooks", body=WebhookRotation, answers={200: CreatedWebhook}, fails=(404,)
    )
    def post(self, request: Request, id: UUID, read_body: ReadBody[WebhookRotation]) -> CreatedWebhook:
        """Give a webhook a new secret, shown this once; the old one signs, too, until the overlap ends."""
        principal = principal_of(request)
        webhook = visible_webhook(principal, id)
        secret = rotate_secret(principal, webhook, timedelta(seconds=read_body().overlap_secs))
        return CreatedWebhook.of(webhook, secret=secret)


class WebhookTestView(APIView):
    """A test message."""

    @operation("webhooks_test", tag="Webhooks", answers={202: WebhookDeliveryShape}, fails=(404,))
    def post(self, request: Request, id: UUID) -> Response:
        """Send a message of type `webhook.test`, once; look for what came of it among the deliveries."""
        webhook = visible_webhook(principal_of(request), id)
        location = request.build_absolute_uri(f"/api/v1/webhooks/{webhook.pk}/deliveries")
        return respond(WebhookDeliveryShape.of(send_test(webhook)), 202, {"Location": location})


class WebhookDeliveriesView(APIView):
    """What was sent to a webhook."""

    @operation(
        "webhook_deliveries_list",
        tag="Webhooks",
        query=ListQuery,
        answers={200: WebhookDeliveryList},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: ListQuery) -> WebhookDeliveryList:
        """List the deliveries of the last days (`WEBHOOK_DELIVERY_DAYS`), the newest first."""
        rows = visible_webhook(principal_of(request), id).deliveries.all()
        return page_of(WebhookDeliveryList, rows, WebhookDeliveryShape.of, request, query)
