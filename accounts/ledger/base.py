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
from accounts.preferences import WorkspaceSetting

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

    @classmethod
    def of(cls, workspace_id: UUID, execution_id: str | None = None) -> Self:
        """Return the workspace with its limit."""
        most = MAX_COST.value_in(workspace_id)
        return cls(workspace_id, None if most is None else Decimal(str(most)), execution_id)

    @property
    def is_limited(self) -> bool:
        """Whether spending has any limit."""
        return self.max_cost is not None or settings.MAX_COST is not None


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
