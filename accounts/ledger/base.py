"""Who pays for which call."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Self
from uuid import UUID

from django.conf import settings
from pydantic import Field

from accounts.models.ledger import Purpose
from accounts.models.usage import WorkspaceQuota
from accounts.preferences import WorkspaceSetting
from accounts.principal import NOBODY, UsageOwner

MaxCost = Annotated[
    float | None,
    Field(
        ge=0,
        le=1_000_000,
        strict=True,
        allow_inf_nan=False,
        description="What the workspace may spend on searches and models, in US dollars, in total.",
    ),
]
MAX_COST = WorkspaceSetting("web_search", "max_cost", MaxCost, lambda: None)


@dataclass(frozen=True, slots=True)
class Payer:
    """The workspace that pays for a call, with its own limit in US dollars if it has one."""

    workspace_id: UUID
    max_cost: Decimal | None = None
    execution_id: str | None = None
    owner: UsageOwner = NOBODY
    """Who caused the call."""

    @classmethod
    def of(cls, workspace_id: UUID, execution_id: str | None = None, owner: UsageOwner = NOBODY) -> Self:
        """Return the workspace with its limit."""
        return cls(workspace_id, max_cost_of(workspace_id), execution_id, owner)

    @property
    def is_limited(self) -> bool:
        """Whether spending has any limit."""
        return self.max_cost is not None or settings.MAX_COST is not None


def max_cost_of(workspace_id: UUID) -> Decimal | None:
    """Return what a workspace may spend in US dollars."""
    chosen = MAX_COST.value_in(workspace_id)
    return within_quota(workspace_id, None if chosen is None else Decimal(str(chosen)))


def within_quota(workspace_id: UUID, chosen: Decimal | None) -> Decimal | None:
    """Return the lower of a workspace's own limit and its quota, which staff set; None is no limit."""
    quota = WorkspaceQuota.unscoped.filter(pk=workspace_id).values_list("max_cost", flat=True).first()
    return min((limit for limit in (chosen, quota) if limit is not None), default=None)


@dataclass(frozen=True, slots=True)
class Order:
    """A call that may cost money: the search provider or model, and its estimated cost in US dollars."""

    payer: Payer
    purpose: Purpose
    provider: str
    estimate: Decimal


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money reserved for an order, until it is settled or released."""

    order: Order
    id: UUID = field(default_factory=uuid.uuid4)
