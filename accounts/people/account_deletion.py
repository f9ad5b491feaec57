"""Deletion of one's own account: what goes, what blocks it, and the receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django import forms
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext, gettext_lazy

from accounts.audit.recording import record
from accounts.models import ApiKey, AuditAction, Membership, User, Workspace
from accounts.people.deletion import count_of, delete_users, delete_workspaces, is_large
from accounts.people.deletion_jobs import delete_later
from accounts.roles import Role


@dataclass(frozen=True, slots=True)
class PlannedDeletion:
    """What would be deleted with an account, by kind, and why it can't be deleted now."""

    counts: Mapping[str, int]
    alone_in: list[Workspace]
    """Workspaces that nobody else is a member of: they are deleted too."""
    blocked_by: list[Workspace]
    """Workspaces with other members, of which nobody else is an owner."""
    is_last_administrator: bool

    @property
    def is_possible(self) -> bool:
        """Whether nothing blocks the deletion."""
        return not self.blocked_by and not self.is_last_administrator

    @classmethod
    def of(cls, user: User) -> PlannedDeletion:
        """Look at what a user has now."""
        alone, blocking = _only_owned(user)
        counts = Counter(count_of([each.pk for each in alone], [user.pk]))
        counts["workspaces"] = len(alone) + 1
        keys = ApiKey.objects.filter(user=user)
        counts["keys"] = keys.filter(program=None).count()
        counts["programs"] = keys.exclude(program=None).count()
        administrators = User.objects.filter(is_superuser=True, is_active=True)
        is_last = user.is_superuser and not administrators.exclude(pk=user.pk).exists()
        return cls(counts, alone, blocking, is_last)


class DeleteAccountForm(forms.Form):
    """Asks for the address of the account that is to be deleted."""

    email = forms.CharField(label=gettext_lazy("Type your email address to confirm"), max_length=254)

    def __init__(self, user: User, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._user = user
        self.fields["email"].widget.attrs["autocomplete"] = "off"

    def clean_email(self) -> str:
        """Return the address, or raise if it is another's."""
        typed = str(self.cleaned_data["email"]).strip().lower()
        if typed != self._user.email:
            raise forms.ValidationError(gettext("This is not %(address)s.") % {"address": self._user.email})
        return typed


def delete_account(user: User, planned: PlannedDeletion) -> tuple[dict[str, int], bool]:
    """Delete a user with all that is theirs; return counts, and whether the worker is still deleting."""
    workspaces = [each.pk for each in planned.alone_in]
    record(AuditAction.USER_DELETED, user, target=("user", user.pk), by="themselves")
    if is_large(planned.counts):
        delete_later(workspaces, [user.pk])
        return dict(planned.counts), True
    gone = Counter(delete_workspaces(workspaces))
    gone.update(delete_users([user.pk]))
    gone["keys"] = planned.counts.get("keys", 0)
    return dict(gone), False


def _only_owned(user: User) -> tuple[list[Workspace], list[Workspace]]:
    """Return the shared workspaces that have no other owner: those without other members, those with some."""
    owned = user.memberships.filter(role=Role.OWNER).values("workspace")
    others = Membership.objects.exclude(user=user).filter(workspace=OuterRef("pk"))
    found = Workspace.objects.filter(~Exists(others.filter(role=Role.OWNER)), personal_of=None)
    found = found.filter(pk__in=owned, deleted_at=None)
    return list(found.exclude(Exists(others))), list(found.filter(Exists(others)))
