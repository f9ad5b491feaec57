"""The one visibility rule of contract §2.

A table with tenants' data derives from `ScopedModel`. Its default manager only answers
`restricted_to(principal)` and `addressable_by(principal)`: a query without a scope raises `ScopeError`
instead of leaking. Code that acts for no principal (jobs, the audited admin) uses the other manager,
`unscoped`; a guard test lists the modules that may.

Behind it stands PostgreSQL's row-level security: `row_policy` of a model, and `as_principal` around code
that works for a principal (ADR 39).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q

from accounts.principal import Principal
from accounts.row_policies import OWN_ROWS, RowPolicy
from core.row_access import NOTHING, RowAccess, current_access, set_access, with_access

M = TypeVar("M", bound=models.Model)


class ScopeError(RuntimeError):
    """A scoped table was queried without a principal, or for another one than the code works for. Always a
    bug in our code."""


def rows_of(principal: Principal) -> RowAccess:
    """Return which rows PostgreSQL may show to code that works for `principal`."""
    is_external = principal.external_user_id is not None
    return RowAccess(
        principal.user_id,
        principal.workspace_ids,
        principal.open_workspace_ids if is_external else frozenset(),
        principal.external_user_id,
    )


@contextmanager
def as_principal(principal: Principal) -> Iterator[None]:
    """Let PostgreSQL show only the rows of `principal` to a block."""
    with with_access(rows_of(principal)):
        yield


def continue_as(principal: Principal) -> None:
    """Let PostgreSQL show only the rows of `principal` to the rest of this request, task or job.

    The first scoped query of a request does this, too.
    """
    set_access(rows_of(principal))


def owned_by(principal: Principal, prefix: str = "") -> Q:
    """Return the rule of sessions and executions: only their user sees them, for the same external user.

    `prefix` leads from another table to theirs.
    """
    user = Q((f"{prefix}user_id", principal.user_id))
    workspace = Q((f"{prefix}workspace_id__in", principal.workspace_ids))
    return user & workspace & Q((f"{prefix}external_user_id", principal.external_user_id))


def shared_rule(principal: Principal, prefix: str = "") -> Q:
    """Return the rule of sessions that members share inside a workspace; external users see none of them.

    `prefix` leads from another table to theirs.
    """
    if principal.external_user_id is not None:
        return Q(pk__in=[])
    shared = {
        f"{prefix}shared": True,
        f"{prefix}workspace_id__in": principal.workspace_ids,
        f"{prefix}external_user_id": None,
    }
    return Q(**shared)


def owned_or_in_shared_session(principal: Principal) -> Q:
    """Return the rule, for rows named by their id, of what belongs to a conversation."""
    in_workspace = Q(workspace_id__in=principal.workspace_ids, external_user_id=None)
    return owned_by(principal) | (shared_rule(principal, "session__") & in_workspace)


def document_rule(principal: Principal) -> Q:
    """Return the rule of rows with a document's `workspace`, `external_user_id` and `session`, for lists and
    searches."""
    return _in_workspaces(principal) & (
        Q(session_id=None)
        if principal.session_id is None
        else Q(session_id=None) | Q(session_id=principal.session_id)
    )


def document_rule_by_id(principal: Principal) -> Q:
    """Return the same rule for a row named by its id: without a session, what is attached to any session that
    the principal sees counts too."""
    if principal.session_id is not None:
        return document_rule(principal)
    return _in_workspaces(principal) & (Q(session_id=None) | owned_by(principal, "session__"))


def _in_workspaces(principal: Principal) -> Q:
    readable = Q(workspace_id__in=principal.workspace_ids)
    if principal.external_user_id is None:
        return readable & Q(external_user_id=None)
    shared = Q(external_user_id=None, workspace_id__in=principal.open_workspace_ids)
    return readable & (Q(external_user_id=principal.external_user_id) | shared)


class ScopedManager(models.Manager[M]):
    """A manager that refuses every query without a principal."""

    def get_queryset(self) -> models.QuerySet[M]:
        """Raise `ScopeError`: this manager has no unscoped queries."""
        raise ScopeError(f"{self.model.__name__} must be queried through restricted_to(principal).")

    def restricted_to(self, principal: Principal) -> models.QuerySet[M]:
        """Return the rows that `principal` may list and search."""
        return self._rows_of(principal).filter(self.model.scope(principal))  # type: ignore[attr-defined]

    def addressable_by(self, principal: Principal) -> models.QuerySet[M]:
        """Return the rows that `principal` may name by id; see `document_rule_by_id`."""
        return self._rows_of(principal).filter(self.model.scope_by_id(principal))  # type: ignore[attr-defined]

    def _rows_of(self, principal: Principal) -> models.QuerySet[M]:
        if current_access() == NOTHING:
            continue_as(principal)
        # Otherwise PostgreSQL would answer with too few rows, and nobody would know why.
        if not current_access().covers(rows_of(principal)):
            raise ScopeError(
                f"{self.model.__name__} is queried for a principal by code that works for another one: "
                "see as_principal() and continue_as()."
            )
        return super().get_queryset()


class ScopedModel(models.Model):
    """A table whose rows belong to a tenant."""

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()
    unscoped: ClassVar[models.Manager[Self]] = models.Manager()
    row_policy: ClassVar[RowPolicy | None] = OWN_ROWS

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
