"""Usage without personal ids: rows of a deleted user, or of a deleted external user, stay as sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from accounts.models import AuditEntry, Charge
from core.row_access import as_system

DELETED_EXTERNAL_USER = ""
"""What stands for deleted external users; no external user can have this id."""

# Rows that become equal are added up. The inserted rows differ from the deleted ones in their ids.
MERGE = """
    WITH gone AS (DELETE FROM accounts_dailyusage WHERE {condition} RETURNING *)
    INSERT INTO accounts_dailyusage AS usage (day, workspace_id, user_id, key_id, external_user_id,
        questions, input_tokens, output_tokens, pages, documents)
    SELECT day, workspace_id, {ids},
        sum(questions), sum(input_tokens), sum(output_tokens), sum(pages), sum(documents)
    FROM gone GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (workspace_id, day, user_id, key_id, external_user_id) DO UPDATE SET
        questions = usage.questions + excluded.questions,
        input_tokens = usage.input_tokens + excluded.input_tokens,
        output_tokens = usage.output_tokens + excluded.output_tokens,
        pages = usage.pages + excluded.pages,
        documents = usage.documents + excluded.documents
"""
OF_USERS = MERGE.format(
    condition="user_id = ANY(%s)",
    ids="NULL::bigint, NULL::uuid, CASE WHEN external_user_id IS NOT NULL THEN '' END",
)
OF_EXTERNAL_USER = MERGE.format(
    condition="workspace_id = ANY(%s) AND external_user_id = %s", ids="user_id, key_id, ''"
)


@as_system("rows of all workspaces that name the users")
@transaction.atomic
def forget_users(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> Mapping[str, int]:
    """Remove users from usage, charges and the audit log; the rows stay.

    Usage loses their ids, their keys and their external users; audit entries lose their addresses. This is a
    `Remover` of `accounts.people.deletion`.
    """
    users = list(user_ids)
    if users:
        _execute(OF_USERS, users)
        charges = Charge.unscoped.filter(user_id__in=users)
        charges.exclude(external_user_id=None).update(external_user_id=DELETED_EXTERNAL_USER)
        charges.update(user_id=None, key_id=None)
        AuditEntry.unscoped.filter(user__in=users).update(address="", user=None)
    return {}


@as_system("rows of another external user than the caller")
@transaction.atomic
def forget_external_user(workspace_ids: Collection[UUID], external_user_id: str) -> None:
    """Remove an external user from usage, charges and the audit log of workspaces; the rows stay."""
    _execute(OF_EXTERNAL_USER, list(workspace_ids), external_user_id)
    for rows in (Charge.unscoped, AuditEntry.unscoped):
        own = rows.filter(workspace_id__in=workspace_ids, external_user_id=external_user_id)
        values: dict[str, Any] = {"external_user_id": DELETED_EXTERNAL_USER}
        own.update(**values | ({"address": ""} if rows.model is AuditEntry else {}))


def _execute(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
