"""Who the external users of some workspaces are, and how much there is of each.

Derived from documents, executions, conversations and usage at each question, so there is nothing to keep up
to date at each request, and nothing more to delete. Apps that own such rows append a function to `sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, overload
from uuid import UUID

from django.db import connection
from django.db.models import Aggregate, BigIntegerField, Count, DateTimeField, Max, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce

from accounts.models import DailyUsage, Session
from accounts.principal import Principal
from accounts.roles import Role
from core.row_access import as_system

COUNTS = ("documents", "bytes", "executions", "sessions", "questions", "tokens")
COLUMNS = ("external_user_id", *COUNTS, "seen_at")
Source = Callable[[Collection[UUID]], QuerySet[Any, Any]]
"""Returns, for workspaces, a row for each external user with `COLUMNS`; see `activity`."""


@dataclass(frozen=True, slots=True)
class ExternalUserActivity:
    """An external user with what there is of it; `seen_at` is the last time it added or asked something."""

    id: str
    documents: int
    bytes: int
    executions: int
    sessions: int
    questions: int
    tokens: int
    seen_at: datetime


def activity(
    rows: QuerySet[Any], seen_at: str = "created_at", **counts: Aggregate
) -> QuerySet[Any, dict[str, Any]]:
    """Return what rows with the column `external_user_id` say of each external user; for a `Source`."""
    zeros = {name: Value(0, BigIntegerField()) for name in COUNTS if name not in counts}
    whole = {name: Coalesce(count, 0, output_field=BigIntegerField()) for name, count in counts.items()}
    # "" stands for those that are deleted, in what is kept of them (accounts/usage/forgetting.py).
    found = rows.order_by().exclude(external_user_id=None).exclude(external_user_id="")
    last = Cast(Max(seen_at), DateTimeField())
    counted: QuerySet[Any, dict[str, Any]] = found.values("external_user_id").annotate(
        **zeros, **whole, seen_at=last
    )
    return counted


def _sessions(workspace_ids: Collection[UUID]) -> QuerySet[Any, Any]:
    return activity(Session.unscoped.filter(workspace__in=workspace_ids), sessions=Count("pk"))


def _usage(workspace_ids: Collection[UUID]) -> QuerySet[Any, Any]:
    rows = DailyUsage.unscoped.filter(workspace_id__in=workspace_ids)
    tokens = Sum("input_tokens") + Sum("output_tokens")
    return activity(rows, seen_at="day", questions=Sum("questions"), tokens=tokens)  # type: ignore[arg-type]


sources: list[Source] = [_sessions, _usage]


def administered(principal: Principal, workspace_id: UUID | None) -> list[UUID]:
    """Return the workspaces whose external users the principal manages: one, or all that it administers.

    Raises `Forbidden` for external users and without the role, `NotFound` for an invisible workspace.
    """
    principal.refuse_external_user("manages no external users")
    if workspace_id is not None:
        principal.require_workspace(workspace_id, Role.ADMIN)
        return [workspace_id]
    return [id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]


class ExternalUsers(Sequence[ExternalUserActivity]):
    """The external users of workspaces, the last seen first; reads only the rows that are asked for."""

    def __init__(self, workspace_ids: Collection[UUID], *, id: str | None = None, part: str = "") -> None:
        """Find all, the one with this `id`, or those whose ids have this `part`, whatever its case."""
        self._where, self._values = "true", list[Any]()
        if id is not None:
            self._where, self._values = "external_user_id = %s", [id]
        elif part:
            self._where, self._values = "strpos(lower(external_user_id), lower(%s)) > 0", [part]
        self._parts = [source(workspace_ids).query.sql_with_params() for source in sources]
        self._is_empty = not workspace_ids

    @overload
    def __getitem__(self, index: int) -> ExternalUserActivity: ...
    @overload
    def __getitem__(self, index: slice) -> list[ExternalUserActivity]: ...
    def __getitem__(self, index: int | slice) -> ExternalUserActivity | list[ExternalUserActivity]:
        """Return one, or a slice without a step."""
        if isinstance(index, int):
            return self[index : index + 1][0]
        start, stop = index.start or 0, index.stop
        sums = ", ".join(f"sum({name})::bigint" for name in COUNTS)
        order = "ORDER BY max(seen_at) DESC, external_user_id"
        limit = [None if stop is None else stop - start, start]
        sql = (
            f"external_user_id, {sums}, max(seen_at)",
            f"GROUP BY external_user_id {order} LIMIT %s OFFSET %s",
        )
        return [ExternalUserActivity(*row) for row in self._select(*sql, *limit)]

    def __len__(self) -> int:
        """Count them."""
        [[count]] = self._select("count(DISTINCT external_user_id)", "")
        return int(count)

    @as_system("counts of all external users, for an admin of their workspaces")
    def _select(self, what: str, how: str, *values: Any) -> list[tuple[Any, ...]]:
        if self._is_empty:
            return [(0,)] if not how else []
        # Column names and the SQL of querysets: nothing of a request is part of the text.
        select = f"SELECT {', '.join(COLUMNS)} FROM"
        union = " UNION ALL ".join(f"{select} ({sql}) AS part" for sql, _ in self._parts)
        given = [value for _, values in self._parts for value in values]
        with connection.cursor() as cursor:
            sql = f"SELECT {what} FROM ({union}) AS parts WHERE {self._where} {how}"  # noqa: S608
            cursor.execute(sql, [*given, *self._values, *values])
            return list(cursor.fetchall())
