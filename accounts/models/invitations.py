"""Invitations to workspaces."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from accounts.models.people import User, Workspace
from accounts.principal import Principal
from accounts.roles import Role
from accounts.row_policies import RowPolicy
from accounts.scope import ScopedModel


class Invitation(ScopedModel):
    """An offer to join a workspace, for one e-mail address or for whoever has its link.

    The secret in the link is not stored (see `accounts.people.invitations`). Admins of the workspace see it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=10, choices=Role.choices)
    email = models.EmailField(blank=True, help_text="who may accept it; blank for anybody with the link")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    # Who has its secret is no principal of the workspace yet.
    row_policy: ClassVar[RowPolicy | None] = None

    class Meta(ScopedModel.Meta):
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return f"{self.email or 'link'} as {self.role}"

    @property
    def is_open(self) -> bool:
        """Whether it can still be accepted."""
        return self.expires_at > timezone.now() and self.uses < self.max_uses

    @classmethod
    def open(cls) -> QuerySet[Invitation]:
        """Return those that can still be accepted, of all workspaces that are not deleted."""
        return cls.unscoped.filter(
            expires_at__gt=timezone.now(), uses__lt=F("max_uses"), workspace__deleted_at=None
        )

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the invitations of the workspaces that the principal administers."""
        administered = [id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]
        return Q(workspace_id__in=administered)
