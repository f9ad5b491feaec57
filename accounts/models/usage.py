"""Usage by day, quotas of workspaces, and the rates of requests."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from accounts.models.ledger import DIGITS, PLACES
from accounts.models.people import Workspace
from accounts.principal import Principal
from accounts.roles import Role
from accounts.row_policies import ROWS_OF_WORKSPACE, RowPolicy
from accounts.scope import ScopedModel


class DailyUsage(ScopedModel):
    """What was used on a day (UTC) in a workspace by a user, perhaps with a key or for an external user.

    Ids are values and no foreign keys: usage outlives what it names. Once a user is deleted, the row has
    neither user nor key. The external user of a deleted one is "". Money is in the ledger.
    """

    day = models.DateField()
    workspace_id = models.UUIDField()
    user_id = models.BigIntegerField(null=True)
    key_id = models.UUIDField(null=True)
    external_user_id = models.CharField(max_length=255, null=True)
    questions = models.BigIntegerField(default=0, help_text="runs of tools that have ended")
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    pages = models.BigIntegerField(default=0, help_text="pages, slides and images that ingestion has read")
    documents = models.BigIntegerField(default=0, help_text="documents added")

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_WORKSPACE

    class Meta(ScopedModel.Meta):
        verbose_name_plural = "daily usage"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id", "day", "user_id", "key_id", "external_user_id"],
                name="one_usage_row_each",
                nulls_distinct=False,
            )
        ]
        indexes = [models.Index(fields=["user_id", "day"], name="usage_of_user")]

    def __str__(self) -> str:
        return f"{self.day} {self.workspace_id}"

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the principal's own usage, and all usage of the workspaces in which it is an admin."""
        own = Q(user_id=principal.user_id, workspace_id__in=principal.workspace_ids)
        if principal.external_user_id is not None:
            return own & Q(external_user_id=principal.external_user_id)
        administered = [id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]
        return own | Q(workspace_id__in=administered)


class WorkspaceQuota(ScopedModel):
    """What a workspace may have and use, as staff decided; null is the deployment's default."""

    workspace = models.OneToOneField(
        Workspace, primary_key=True, on_delete=models.CASCADE, related_name="quota"
    )
    documents = models.PositiveBigIntegerField(null=True, blank=True)
    storage_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_per_day = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="tokens that models read and write, per day (UTC)"
    )
    runs_per_minute = models.PositiveIntegerField(null=True, blank=True, help_text="questions and searches")
    max_cost = models.DecimalField(
        null=True,
        blank=True,
        max_digits=DIGITS,
        decimal_places=PLACES,
        help_text="US dollars, in all; its admins can set a lower limit",
    )

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_WORKSPACE

    def __str__(self) -> str:
        return f"Quota of {self.workspace}"

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the quotas of the workspaces that the principal may read."""
        return Q(workspace_id__in=principal.workspace_ids)


class RateBucket(models.Model):
    """How much of a rate is used: time empties the bucket (see `accounts.quotas.rates`).

    The table is not logged: after a crash of the database all buckets are empty.
    """

    key = models.CharField(max_length=64, primary_key=True, help_text="digest of the limit and who it counts")
    empty_at = models.DateTimeField(db_index=True, help_text="when nothing counts any more")
    granted = models.IntegerField(help_text="how much the last taker got")

    def __str__(self) -> str:
        return self.key
