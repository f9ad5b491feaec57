"""What all processes know of web providers: their breakers, what was found lately, and what it has cost."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from accounts.models import Workspace
from accounts.principal import Principal
from accounts.scope import ScopedModel

# Of US dollars: to the millionth, since models are paid by the token.
DIGITS, PLACES = 16, 6


class Breaker(models.Model):
    """A provider in trouble; one that has no row is closed and has no failure to its name."""

    name = models.CharField(primary_key=True, max_length=50, help_text="e.g. web_search:brave")
    failures = models.PositiveIntegerField(default=0, help_text="consecutive ones")
    is_tripped = models.BooleanField(default=False, help_text="open, or half-open once the time is over")
    open_until = models.DateTimeField(null=True)
    openings = models.PositiveIntegerField(default=0, help_text="in a row, each twice as long as the last")
    successes = models.PositiveIntegerField(default=0, help_text="of probes since it opened")
    probe_until = models.DateTimeField(null=True, help_text="the lease of the one probe under way")
    refused = models.CharField(
        max_length=64, blank=True, help_text="digest of the configuration whose key was refused"
    )

    def __str__(self) -> str:
        return self.name


class CachedSearch(models.Model):
    """What a search found. The key is a digest: a row tells neither who asked nor what."""

    key = models.CharField(primary_key=True, max_length=64)
    value = models.JSONField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="cached_search_expiry")]

    def __str__(self) -> str:
        return self.key


class Purpose(models.TextChoices):
    """What was paid for."""

    SEARCH = "search"
    MODEL = "model"


class OfWorkspace(ScopedModel):
    """Rows that members of their workspace may see."""

    class Meta(ScopedModel.Meta):
        abstract = True

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return what belongs to the workspaces the principal may read."""
        return Q(workspace_id__in=principal.workspace_ids)


class Charge(OfWorkspace):
    """A call that costs money: an amount that is reserved, and once it is settled what the call has cost."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # What was spent stays spent when the workspace is gone.
    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.SET_NULL, related_name="+")
    execution = models.ForeignKey("search.Execution", null=True, on_delete=models.SET_NULL, related_name="+")
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    provider = models.CharField(max_length=100, help_text="the search provider, or the model")
    amount = models.DecimalField(max_digits=DIGITS, decimal_places=PLACES)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(help_text="then a reservation is over: its process is gone")

    class Meta(OfWorkspace.Meta):
        indexes = [
            models.Index(fields=["workspace", "created_at"], name="charge_of_workspace"),
            models.Index(fields=["lease_until"], name="charge_lease", condition=Q(settled_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.amount}"


class Balance(OfWorkspace):
    """The sum of a workspace's charges, or of everybody's in the row without a workspace."""

    workspace = models.OneToOneField(Workspace, null=True, on_delete=models.CASCADE, related_name="+")
    total = models.DecimalField(max_digits=DIGITS, decimal_places=PLACES, default=0)

    class Meta(OfWorkspace.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace"], name="one_balance_each", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id or 'all'} {self.total}"
