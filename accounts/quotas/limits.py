"""Quotas of workspaces: what staff, or else the deployment, allow a workspace to have and to use.

| quota | what it bounds | checked |
|---|---|---|
| `documents`, `storage_bytes` | what the workspace holds | as a document is stored (`kb.storage_quota`) |
| `tokens_per_day` | tokens of models, per day (UTC) | before a run: those under way may exceed it |
| `runs_per_minute` | questions and searches | before each |
| `max_cost` | US dollars in all | by the ledger, before each call that costs money |
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db.models import F, Sum
from django.utils import timezone

from accounts.models import DailyUsage, WorkspaceQuota
from accounts.quotas.rates import shared_rates
from core.errors import QuotaExceeded

QuotaName = Literal["documents", "storage_bytes", "tokens_per_day", "runs_per_minute"]
RETRY_SECS = 3600
"""When to try again if nothing but a deletion, or staff, can make room."""


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """What counts for a workspace; None is no limit."""

    documents: int | None = None
    storage_bytes: int | None = None
    tokens_per_day: int | None = None
    runs_per_minute: int | None = None
    max_cost: Decimal | None = None


def quota_limits(workspace_id: UUID) -> QuotaLimits:
    """Return the workspace's own quotas, and the deployment's where it has none."""
    own = WorkspaceQuota.unscoped.filter(pk=workspace_id).first() or WorkspaceQuota()
    default = deployment_limits()
    return QuotaLimits(
        documents=_first(own.documents, default.documents),
        storage_bytes=_first(own.storage_bytes, default.storage_bytes),
        tokens_per_day=_first(own.tokens_per_day, default.tokens_per_day),
        runs_per_minute=_first(own.runs_per_minute, default.runs_per_minute),
        max_cost=own.max_cost,
    )


def deployment_limits() -> QuotaLimits:
    """Return the quotas of a workspace that has none of its own."""
    return QuotaLimits(
        documents=settings.QUOTA_DOCUMENTS,
        storage_bytes=settings.QUOTA_STORAGE_BYTES,
        tokens_per_day=settings.QUOTA_TOKENS_PER_DAY,
        runs_per_minute=settings.QUOTA_RUNS_PER_MINUTE,
    )


def admit_run(workspace_id: UUID) -> None:
    """Count a run or search of a workspace; raise `QuotaExceeded` if its tokens or runs are used up."""
    limits = quota_limits(workspace_id)
    if limits.tokens_per_day is not None:
        used = tokens_today(workspace_id)
        if used >= limits.tokens_per_day:
            raise tokens_used_up(limits.tokens_per_day, used)
    if limits.runs_per_minute is not None:
        _count_run(workspace_id, limits.runs_per_minute)


def tokens_today(workspace_id: UUID) -> int:
    """Return the tokens that models have read and written for a workspace since midnight (UTC)."""
    today = DailyUsage.unscoped.filter(workspace_id=workspace_id, day=datetime.now(UTC).date())
    total: int = today.aggregate(total=Sum(F("input_tokens") + F("output_tokens"), default=0))["total"]
    return total


def next_midnight() -> datetime:
    """Return when the next day begins (UTC)."""
    return datetime.combine(datetime.now(UTC).date() + timedelta(days=1), time(), UTC)


def tokens_used_up(limit: int, used: int) -> QuotaExceeded:
    """Return the error of a workspace that has used its tokens of today."""
    return QuotaExceeded(
        f"Of this workspace's {limit:,} tokens a day, {used:,} are used. Ask again after midnight (UTC), "
        "or ask an administrator of this server for more.",
        quota="tokens_per_day",
        limit=limit,
        used=used,
        resets_at=next_midnight(),
    )


def quota_error(quota: QuotaName, limit: int, used: int, message: str) -> QuotaExceeded:
    """Return the error of a quota that time does not reset."""
    return QuotaExceeded(message, quota=quota, limit=limit, used=used, retry_after=RETRY_SECS)


def _count_run(workspace_id: UUID, limit: int) -> None:
    if not limit:
        raise quota_error("runs_per_minute", 0, 0, "This workspace may ask no questions.")
    standing = shared_rates.use("runs of a workspace", str(workspace_id), limit)
    if standing.is_exceeded:
        raise QuotaExceeded(
            f"This workspace may ask {limit:,} questions a minute. Wait {standing.retry_secs} s.",
            quota="runs_per_minute",
            limit=limit,
            used=limit,
            resets_at=timezone.now() + timedelta(seconds=standing.retry_secs),
        )


def _first(own: int | None, default: int | None) -> int | None:
    return default if own is None else own
