"""Charges and balances. The tables keep their old names, with the prefix `kb`."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from accounts.models.people import Workspace
from accounts.principal import Principal
from accounts.row_policies import ROWS_OF_WORKSPACE, RowPolicy
from accounts.scope import ScopedModel
from core.languages.numbers import price

# Of US dollars: to the millionth, since models are paid by the token.
DIGITS, PLACES = 16, 6


class Purpose(models.TextChoices):
    """The purpose of a charge."""

    SEARCH = "search"
    MODEL = "model"


class OfWorkspace(ScopedModel):
    """Rows visible to the members of their workspace."""

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_WORKSPACE

    class Meta(ScopedModel.Meta):
        abstract = True
        app_label = "kb"

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the rows of the workspaces that the principal may read."""
        return Q(workspace_id__in=principal.workspace_ids)


class Charge(OfWorkspace):
    """A call that costs money: the reserved amount, and after settlement the actual cost."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # A charge stays when its workspace is deleted. The index with the time serves this column.
    workspace = models.ForeignKey(
        Workspace, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    execution_id = models.CharField(
        max_length=40, null=True, help_text="of the run of a tool that it was for"
    )
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    provider = models.CharField(max_length=100, help_text="the search provider, or the model")
    # Values, as in `DailyUsage`: a charge outlives who caused it.
    user_id = models.BigIntegerField(null=True, help_text="who caused it; null once deleted")
    key_id = models.UUIDField(null=True)
    external_user_id = models.CharField(max_length=255, null=True)
    amount = models.DecimalField(max_digits=DIGITS, decimal_places=PLACES)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(help_text="then a reservation is over: its process is gone")

    class Meta(OfWorkspace.Meta):
        indexes = [
            models.Index(fields=["workspace", "created_at"], name="charge_of_workspace"),
            models.Index(fields=["created_at"], name="charge_created"),
            models.Index(fields=["user_id", "created_at"], name="charge_of_user"),
            models.Index(
                fields=["execution_id"], name="charge_of_execution", condition=Q(execution_id__isnull=False)
            ),
            models.Index(fields=["lease_until"], name="charge_lease", condition=Q(settled_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {price(self.amount)}"


class Balance(OfWorkspace):
    """The sum of a workspace's charges, or of all in the row without a workspace."""

    workspace = models.OneToOneField(Workspace, null=True, on_delete=models.CASCADE, related_name="+")
    total = models.DecimalField(max_digits=DIGITS, decimal_places=PLACES, default=0)

    class Meta(OfWorkspace.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace"], name="one_balance_each", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id or 'all'} {self.total}"
