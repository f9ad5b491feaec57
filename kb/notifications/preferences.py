"""Section `notifications` of preferences and settings: about what mail is sent."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from accounts.preferences import Layer, Section, SettingSource, preferences_of, resolve, settings_of
from accounts.principal import Principal

NAME = "notifications"
FIELD = "mail"


class MailChoice(StrEnum):
    """About which ends of processing a user gets mail."""

    NEVER = "never"
    FAILURES = "failures"
    LONG = "long"
    """Of failures, and of the end of long work."""


class NotificationPreferences(BaseModel):
    """What users may prefer, and workspaces may set; null inherits."""

    model_config = ConfigDict(extra="forbid")

    mail: MailChoice | None = Field(
        None,
        description="Whether documents that one has added cause mail: `never`, on `failures`, or `long`: "
        "also when long work has ended.",
    )


def mail_choice(principal: Principal, workspace_id: UUID) -> MailChoice:
    """Return what counts for a user's documents in a workspace."""
    layers = [
        Layer(SettingSource.USER, preferences_of(principal)[NAME]),
        Layer(SettingSource.WORKSPACE, settings_of(workspace_id)[NAME]),
    ]
    return MailChoice(resolve(NAME, layers)[FIELD].value)


NOTIFICATIONS = Section(
    NAME,
    NotificationPreferences,
    NotificationPreferences,
    lambda: {FIELD: settings.NOTIFICATION_MAIL},
    lambda: {FIELD: [each.value for each in MailChoice]},
    template="kb/notification_settings.html",
    labels={FIELD: "Mail about documents"},
)
