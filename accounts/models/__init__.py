"""The tables of people and access, of idempotent requests, and of the ledger."""

from accounts.models.idempotency import IdempotentRequest
from accounts.models.ledger import Balance, Charge, Purpose
from accounts.models.people import (
    ApiKey,
    AttemptBucket,
    EmailUserManager,
    Membership,
    Preferences,
    Session,
    User,
    Workspace,
)

__all__ = [
    "ApiKey",
    "AttemptBucket",
    "Balance",
    "Charge",
    "EmailUserManager",
    "IdempotentRequest",
    "Membership",
    "Preferences",
    "Purpose",
    "Session",
    "User",
    "Workspace",
]
