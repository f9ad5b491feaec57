"""Members of workspaces in the admin panel, on the pages of workspaces and of users."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Field
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.forms import PaginationInlineFormSet

from accounts.audit.recording import record
from accounts.models import AuditAction, Membership, User, Workspace
from accounts.roles import Role


class MembershipFormSet(PaginationInlineFormSet):  # type: ignore[misc]
    """Memberships that change together: afterwards each workspace must still have an owner."""

    def clean(self) -> None:
        """Raise `ValidationError` with the names of workspaces that would have no owner."""
        super().clean()
        if any(self.errors):
            return
        if ownerless := [str(workspace) for workspace in self._touched() if not self._has_owner(workspace)]:
            raise ValidationError(f"A workspace needs an owner: {', '.join(ownerless)}")
        for form in self.forms:
            form.instance.is_checked_alone = False

    def _touched(self) -> list[Workspace]:
        if isinstance(self.instance, Workspace):
            return [self.instance]
        ids = {form.instance.workspace_id for form in self._filled()}
        ids |= {form.initial.get("workspace") for form in self._filled()}
        return list(Workspace.objects.filter(pk__in=ids))

    def _has_owner(self, workspace: Workspace) -> bool:
        kept = (form for form in self._filled() if not self._should_delete_form(form))
        if any(
            form.instance.role == Role.OWNER and form.instance.workspace_id == workspace.pk for form in kept
        ):
            return True
        shown = [form.instance.pk for form in self.forms if form.instance.pk]
        owners = Membership.objects.filter(workspace=workspace.pk, role=Role.OWNER)
        return owners.exclude(pk__in=shown).exists()

    def _filled(self) -> list[Any]:
        return [form for form in self.forms if form.instance.pk or form.has_changed()]


class MembershipInline(TabularInline):  # type: ignore[misc]
    """The members and their roles."""

    model = Membership
    formset = MembershipFormSet
    extra = 0
    autocomplete_fields = ["user", "workspace"]

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        """Name each field of the table for screen readers: its label is only above the column."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs["aria-label"] = str(db_field.verbose_name).capitalize()
        return field


def save_members(request: HttpRequest, formset: Any) -> None:
    """Save the memberships of a form and record each change."""
    formset.save()
    for membership in formset.new_objects:
        _record(AuditAction.MEMBER_ADDED, request, membership, role=membership.role)
    for membership, fields in formset.changed_objects:
        _record(AuditAction.MEMBER_CHANGED, request, membership, role=membership.role, fields=list(fields))
    for membership in formset.deleted_objects:
        _record(AuditAction.MEMBER_REMOVED, request, membership)


def _record(action: AuditAction, request: HttpRequest, membership: Membership, **details: Any) -> None:
    actor = request.user if isinstance(request.user, User) else None
    target = ("user", membership.user_id)
    record(action, actor, workspace_id=membership.workspace_id, target=target, **details)
