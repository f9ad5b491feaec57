"""The tables of people and access, of idempotent requests, of the ledger, of usage,
of the audit log, of notifications, webhooks and connected programs."""

from accounts.models.audit import AuditAction, AuditEntry
from accounts.models.conversations import Session
from accounts.models.external_users import ExternalUserDeletion
from accounts.models.idempotency import IdempotentRequest
from accounts.models.invitations import Invitation
from accounts.models.ledger import Balance, Charge, Purpose
from accounts.models.notifications import Notification, NotificationKind
from accounts.models.people import (
    ApiKey,
    AttemptBucket,
    EmailUserManager,
    Membership,
    Preferences,
    Program,
    Theme,
    User,
    Workspace,
)
from accounts.models.programs import AuthorizationCode, ProgramToken, ProgramTokenKind
from accounts.models.usage import DailyUsage, RateBucket, WorkspaceQuota
from accounts.models.webhooks import (
    DeliveryStatus,
    DisabledBecause,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)

__all__ = [
    "ApiKey",
    "AttemptBucket",
    "AuditAction",
    "AuditEntry",
    "AuthorizationCode",
    "Balance",
    "Charge",
    "DailyUsage",
    "DeliveryStatus",
    "DisabledBecause",
    "EmailUserManager",
    "ExternalUserDeletion",
    "IdempotentRequest",
    "Invitation",
    "Membership",
    "Notification",
    "NotificationKind",
    "Preferences",
    "Program",
    "ProgramToken",
    "ProgramTokenKind",
    "Purpose",
    "RateBucket",
    "Session",
    "Theme",
    "User",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
    "Workspace",
    "WorkspaceQuota",
]
