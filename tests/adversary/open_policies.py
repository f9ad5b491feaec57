"""Every policy of PostgreSQL's row-level security, opened one at a time, and every condition of a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from django.db import connection

from accounts import row_policies, row_security
from accounts.row_policies import RowPolicy
from core.row_access import as_system

Mutation = tuple[str, Callable[[], None], Callable[[], None]]
OPEN = {
    "select": "USING (true)",
    "insert": "WITH CHECK (true)",
    "update": "USING (true) WITH CHECK (true)",
    "delete": "USING (true)",
}
CONDITIONS = {
    "user": f"user_id = {row_policies.USER}",
    "workspace": row_policies.IN_WORKSPACE,
    "external user": row_policies.SAME_EXTERNAL_USER,
    "sharing": f"workspace_id = ANY ({row_policies.OPEN_WORKSPACES})",
    "conversation": row_policies.IN_OWN_SESSION,
}


def mutations() -> Iterator[Mutation]:
    """Yield a name for each, what opens it, and what puts it back."""
    policies = {table: model.row_policy for table, model in row_security.protected_models().items()}  # type: ignore[attr-defined]
    for table, policy in policies.items():
        put_back = partial(_execute, list(row_security._statements(table, policy)))
        for command, condition in OPEN.items():
            opened = f"ALTER POLICY locus_{command} ON {table} {condition}"
            yield f"{table}: {command}", partial(_execute, [opened]), put_back
    for policy in dict.fromkeys(policies.values()):
        tables = [table for table, its in policies.items() if its == policy]
        for part in ("reads", "writes"):
            for name, condition in CONDITIONS.items():
                if condition in getattr(policy, part):
                    weaker = replace(policy, **{part: getattr(policy, part).replace(condition, "true")})
                    named = f"{', '.join(tables)}: {part} without the condition on the {name}"
                    yield named, partial(_apply, tables, weaker), partial(_apply, tables, policy)


def _apply(tables: Iterable[str], policy: RowPolicy) -> None:
    for table in tables:
        _execute(row_security._statements(table, policy))


def _execute(statements: Iterable[str]) -> None:
    with as_system("a policy is opened"), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
