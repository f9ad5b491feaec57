"""The rights of members and keys."""

from __future__ import annotations

from django.db import models


class Role(models.TextChoices):
    """The role of a member, from least to most rights (contract §2)."""

    VIEWER = "viewer", "Viewer: reads and asks"
    EDITOR = "editor", "Editor: also changes documents"
    ADMIN = "admin", "Admin: also manages members and settings"
    OWNER = "owner", "Owner: also deletes the workspace"

    def covers(self, other: Role) -> bool:
        """Whether this role has all rights of `other`."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class KeyScope(models.TextChoices):
    """What an API key may do on behalf of its user."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
