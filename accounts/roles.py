"""The rights of members and keys."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy


class Role(models.TextChoices):
    """The role of a member, from least to most rights (contract §2)."""

    VIEWER = "viewer", gettext_lazy("Viewer: reads and asks")
    EDITOR = "editor", gettext_lazy("Editor: also changes documents")
    ADMIN = "admin", gettext_lazy("Admin: also manages members and settings")
    OWNER = "owner", gettext_lazy("Owner: also deletes the workspace")

    @property
    def short_name(self) -> str:
        """The role in one word."""
        return str(ROLE_NAMES[self])

    def covers(self, other: Role) -> bool:
        """Whether this role has all rights of `other`."""
        order = list(Role)
        return order.index(self) >= order.index(other)


ROLE_NAMES = {
    Role.VIEWER: gettext_lazy("Viewer"),
    Role.EDITOR: gettext_lazy("Editor"),
    Role.ADMIN: gettext_lazy("Admin"),
    Role.OWNER: gettext_lazy("Owner"),
}


class KeyScope(models.TextChoices):
    """What an API key may do on behalf of its user."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
