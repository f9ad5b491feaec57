"""`/api/v1/workspaces/{id}/usage`, `/api/v1/workspaces/{id}/quotas` and `/api/v1/me/usage`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Self
from uuid import UUID

from django.db import transaction
from pydantic import ConfigDict, Field
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.audit.recording import record
from accounts.models import AuditAction, User, Workspace, WorkspaceQuota
from accounts.principal import Principal
from accounts.quotas.standing import QuotaStanding, quota_standings
from accounts.roles import KeyScope, Role
from accounts.usage.naming import NamedUsage, named_usage
from accounts.usage.reading import Period, UsageGrouping, UsageRows, UsageSums, in_total, sees_all
from accounts.usage.storage import stored_amount
from core.api.operations import ApiQuery, ReadBody, operation
from core.api.validation import ApiModel, without_nulls
from core.errors import Forbidden, NotFound, ValidationError
from core.row_access import as_system

MOST_DAYS = 400
USUAL_DAYS = 30


class PeriodQuery(ApiQuery):
    """Which days count (UTC), the first and the last included."""

    model_config = ConfigDict(json_schema_extra=without_nulls, populate_by_name=True)

    first: date | None = Field(
        None, alias="from", description="The first day, as 2026-11-23; by default 30 days with the last."
    )
    to: date | None = Field(None, description="The last day; by default today.")

    def period(self) -> Period:
        """Return the days; raise `ValidationError` if there are none, or too many."""
        last = self.to or Period.of_days(1).last
        first = self.first or last - timedelta(days=min(USUAL_DAYS - 1, (last - date.min).days))
        if first > last:
            raise ValidationError("from must not be after to.", param="from")
        if (last - first).days >= MOST_DAYS:
            raise ValidationError(f"At most {MOST_DAYS} days.", param="from")
        return Period(first, last)


class WorkspaceUsageQuery(PeriodQuery):
    """Usage of a workspace."""

    by: Literal["day", "user", "key", "external_user"] = Field("day", description="By what usage is summed.")


class OwnUsageQuery(PeriodQuery):
    """The caller's usage."""

    by: Literal["day", "workspace", "key", "external_user"] = Field(
        "day", description="By what usage is summed."
    )


class UsageAmounts(ApiModel):
    """What was used."""

    questions: int = Field(description="Runs of tools that have ended.")
    input_tokens: int
    output_tokens: int
    pages: int = Field(description="Pages, slides and images that ingestion has read.")
    documents: int = Field(description="Documents added.")
    cost: Decimal = Field(description="US dollars, for searches and models.")

    @classmethod
    def of(cls, sums: UsageSums) -> Self:
        """Return the sums."""
        return cls(**{name: getattr(sums, name) for name in UsageAmounts.model_fields})


class UsageGroup(UsageAmounts):
    """The usage of a day, user, key, external user or workspace."""

    id: str | None = Field(description="Null for what has none, or is of a deleted user.")
    label: str

    @classmethod
    def of_named(cls, one: NamedUsage) -> Self:
        """Return a group with its name."""
        amounts = {name: getattr(one.sums, name) for name in UsageAmounts.model_fields}
        return cls(id=one.id, label=one.label, **amounts)


class StorageShape(ApiModel):
    """What a workspace holds now."""

    documents: int
    bytes: int


class QuotaShape(ApiModel):
    """A quota of a workspace; null is no limit."""

    quota: str
    limit: Decimal | None
    used: Decimal
    resets_at: datetime | None = Field(description="When time makes room; null if only a deletion does.")

    @classmethod
    def of(cls, standing: QuotaStanding) -> Self:
        """Return how a quota stands."""
        return cls(
            quota=standing.name, limit=standing.limit, used=standing.used, resets_at=standing.resets_at
        )


class _UsageShape(ApiModel):
    first: date = Field(alias="from")
    to: date
    by: str
    results: list[UsageGroup]
    total: UsageAmounts

    model_config = ConfigDict(populate_by_name=True)

    def as_json(self) -> dict[str, Any]:
        """Return the reply's body."""
        return self.model_dump(mode="json", by_alias=True)


class WorkspaceUsage(_UsageShape):
    """The usage of a workspace."""

    whole: bool = Field(description="False if these are the caller's own numbers alone, as members see them.")
    storage: StorageShape | None = Field(description="Null for members.")
    quotas: list[QuotaShape] = Field(description="Empty for members.")


class OwnUsage(_UsageShape):
    """The caller's usage in all its workspaces."""


class WorkspaceUsageView(APIView):
    """What was used in a workspace."""

    @operation(
        "workspaces_usage",
        tag="Workspaces",
        query=WorkspaceUsageQuery,
        answers={200: WorkspaceUsage},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: WorkspaceUsageQuery) -> WorkspaceUsage:
        """Return the usage of a workspace by day, user, key or external user.

        Its admins see all of it, its storage and its quotas; other members see their own numbers.
        """
        principal, period, by = principal_of(request), query.period(), UsageGrouping(query.by)
        principal.require_workspace(id)
        whole = sees_all(principal, id)
        sums = UsageRows.of_workspace(principal, id, period).sums(by)
        return WorkspaceUsage(
            **_common(principal, period, by, sums),
            whole=whole,
            storage=_storage(id) if whole else None,
            quotas=_quotas(id) if whole else [],
        )


class OwnUsageView(APIView):
    """What the caller has used."""

    @operation("me_usage", tag="Account", query=OwnUsageQuery, answers={200: OwnUsage})
    def get(self, request: Request, query: OwnUsageQuery) -> OwnUsage:
        """Return the caller's usage by day, workspace, key or external user."""
        principal, period, by = principal_of(request), query.period(), UsageGrouping(query.by)
        sums = UsageRows.of_principal(principal, period).sums(by)
        return OwnUsage(**_common(principal, period, by, sums))


def _common(
    principal: Principal, period: Period, by: UsageGrouping, sums: Mapping[Any, UsageSums]
) -> dict[str, Any]:
    named = named_usage(principal, period, by, sums)
    return {
        "first": period.first,
        "to": period.last,
        "by": by.value,
        "results": [UsageGroup.of_named(one) for one in named],
        "total": UsageAmounts.of(in_total(dict(sums))),
    }


def _storage(workspace_id: UUID) -> StorageShape:
    held = stored_amount(workspace_id)
    return StorageShape(documents=held.documents, bytes=held.bytes)


@as_system("staff may read and set the quotas of any workspace")
def _quotas(workspace_id: UUID) -> list[QuotaShape]:
    return [QuotaShape.of(standing) for standing in quota_standings(workspace_id)]


class QuotasShape(ApiModel):
    """The quotas of a workspace, and what is used of each."""

    quotas: list[QuotaShape]


class QuotasChange(ApiModel):
    """New quotas: a number replaces, null is the deployment's again; what is not named stays."""

    documents: int | None = Field(None, ge=0, le=2**53, strict=True)
    storage_bytes: int | None = Field(None, ge=0, le=2**53, strict=True)
    tokens_per_day: int | None = Field(None, ge=0, le=2**53, strict=True)
    runs_per_minute: int | None = Field(None, ge=0, le=2**31 - 1, strict=True)
    max_cost: Decimal | None = Field(
        None, ge=0, le=1_000_000, allow_inf_nan=False, max_digits=16, decimal_places=6
    )


class WorkspaceQuotasView(APIView):
    """What a workspace may have and use."""

    @operation("workspaces_quotas", tag="Workspaces", answers={200: QuotasShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> QuotasShape:
        """Return the quotas, for admins of the workspace and staff."""
        principal = principal_of(request)
        if not _is_staff(request, principal):
            principal.require_workspace(id, Role.ADMIN)
            principal.refuse_external_user("sees no quotas")
        elif not Workspace.objects.filter(pk=id).exists():
            raise NotFound
        return QuotasShape(quotas=_quotas(id))

    @operation(
        "workspaces_change_quotas",
        tag="Workspaces",
        body=QuotasChange,
        answers={200: QuotasShape},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[QuotasChange]) -> QuotasShape:
        """Change some quotas, as staff."""
        principal = principal_of(request)
        if not _is_staff(request, principal):
            principal.require_workspace(id)
            raise Forbidden("Quotas are changed by the staff of this server.")
        if not Workspace.objects.filter(pk=id).exists():
            raise NotFound
        changes = read_body().model_dump(exclude_unset=True)
        with as_system("staff set the quotas of any workspace"), transaction.atomic():
            WorkspaceQuota.unscoped.update_or_create(pk=id, defaults=changes)
            names: Sequence[Any] = [f"quotas.{name}" for name in changes]
            record(AuditAction.SETTINGS_CHANGED, principal, workspace_id=id, settings=list(names))
        return QuotasShape(quotas=_quotas(id))


def _is_staff(request: Request, principal: Principal) -> bool:
    """Tell whether staff with the right to quotas ask, logged in or with a key of scope `admin`."""
    user = request.user
    return (
        isinstance(user, User)
        and user.is_staff
        and user.has_perm("accounts.change_workspacequota")
        and KeyScope.ADMIN in principal.scopes
        and principal.external_user_id is None
        and not principal.narrowed
    )
