"""The one visibility rule of contract §2.

A table with tenants' data derives from `ScopedModel`. Its default manager only answers
`restricted_to(principal)` and `addressable_by(principal)`: a query without a scope raises `ScopeError`
instead of leaking. Code that acts for no principal (jobs, the audited admin) uses the other manager,
`unscoped`; a guard test lists the modules that may.
"""

from __future__ import annotations

from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q

from accounts.principal import Principal

M = TypeVar("M", bound=models.Model)


class ScopeError(RuntimeError):
    """A scoped table was queried without a principal. Always a bug in our code."""


def owned_by(principal: Principal) -> Q:
    """Return the rule of sessions and executions: only their user sees them, for the same external user."""
    return Q(user_id=principal.user_id, workspace_id__in=principal.workspace_ids) & _same_external_user(
        principal
    )


def document_rule(principal: Principal) -> Q:
    """Return the rule of rows with a document's `workspace`, `external_user_id` and `session`, for lists and
    searches."""
    return _in_workspaces(principal) & (
        Q(session_id=None)
        if principal.session_id is None
        else Q(session_id=None) | Q(session_id=principal.session_id)
    )


def document_rule_by_id(principal: Principal) -> Q:
    """Return the same rule for a row named by its id: without a session, the owner's attached documents count
    too."""
    if principal.session_id is not None:
        return document_rule(principal)
    own_session = Q(session__user_id=principal.user_id) & _same_external_user(principal, "session__")
    return _in_workspaces(principal) & (Q(session_id=None) | own_session)


def _in_workspaces(principal: Principal) -> Q:
    readable = Q(workspace_id__in=principal.workspace_ids)
    if principal.external_user_id is None:
        return readable & Q(external_user_id=None)
    shared = Q(external_user_id=None, workspace_id__in=principal.open_workspace_ids)
    return readable & (_same_external_user(principal) | shared)


def _same_external_user(principal: Principal, prefix: str = "") -> Q:
    return Q(**{f"{prefix}external_user_id": principal.external_user_id})


class ScopedManager(models.Manager[M]):
    """A manager that refuses every query without a principal."""

    def get_queryset(self) -> models.QuerySet[M]:
        """Raise `ScopeError`: this manager has no unscoped queries."""
        raise ScopeError(f"{self.model.__name__} must be queried through restricted_to(principal).")

    def restricted_to(self, principal: Principal) -> models.QuerySet[M]:
        """Return the rows that `principal` may list and search."""
        return super().get_queryset().filter(self.model.scope(principal))  # type: ignore[attr-defined]

    def addressable_by(self, principal: Principal) -> models.QuerySet[M]:
        """Return the rows that `principal` may name by id; see `document_rule_by_id`."""
        return super().get_queryset().filter(self.model.scope_by_id(principal))  # type: ignore[attr-defined]


class ScopedModel(models.Model):
    """A table whose rows belong to a tenant."""

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()
    unscoped: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True
        # Cascades and foreign-key look-ups start from rows that a scoped query has already found.
        base_manager_name = "unscoped"
        default_manager_name = "objects"

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the rule for lists and searches; by default that of owned rows."""
        return owned_by(principal)

    @classmethod
    def scope_by_id(cls, principal: Principal) -> Q:
        """Return the rule for rows named by id; the same unless a model says otherwise."""
        return cls.scope(principal)
