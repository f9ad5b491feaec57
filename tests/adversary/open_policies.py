"""Every policy of PostgreSQL's row-level security, opened one at a time, and every condition of a policy."""

from __future__ import annotations

import re
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
    # In a subquery the column has the name of its table before it, which goes too.
    "user": rf"(owner\.)?user_id = {re.escape(row_policies.USER)}",
    "workspace": re.escape(row_policies.IN_WORKSPACE),
    "external user": re.escape(row_policies.SAME_EXTERNAL_USER),
    "absence of an external user": r"\bexternal_user_id IS NULL",
    "absence of an external asker": rf"{re.escape(row_policies.EXTERNAL_USER)} IS NULL",
    "sharing of the workspace": re.escape(f"workspace_id = ANY ({row_policies.OPEN_WORKSPACES})"),
    "sharing of the conversation": r"\bshared\b(?= AND)|locus_is_shared_session\(session_id\)",
    "conversation": re.escape(row_policies.IN_OWN_SESSION),
    "tool": r"tool = 'chat'",
    "visibility": r"visibility = 'workspace'",
}
"""By what it is on: a pattern of each condition of a policy."""
FUNCTION_CONDITIONS = {
    "locus_is_own_session": r"AND user_id = nullif\(.*?\)::int",
    "locus_is_shared_session": r"AND shared",
}
"""By function that policies call: a pattern of its condition."""


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
        for name, weaker in _weaker(policy):
            named = f"{', '.join(tables)}: {name}"
            yield named, partial(_apply, tables, weaker), partial(_apply, tables, policy)
    for function, condition in FUNCTION_CONDITIONS.items():
        [opened] = _without_each(row_policies.FUNCTIONS, condition, "")
        put_back = partial(_execute, [row_policies.FUNCTIONS])
        yield f"{function} without its condition", partial(_execute, [opened]), put_back


def _weaker(policy: RowPolicy) -> Iterator[tuple[str, RowPolicy]]:
    """Yield a policy without each of its conditions, and which it is."""
    for part in ("reads", "writes"):
        for name, condition in CONDITIONS.items():
            opened = _without_each(getattr(policy, part), condition, "true")
            for number, text in enumerate(opened, 1):
                which = f":{number}" if number > 1 else ""
                yield f"{part} without the condition on the {name}{which}", replace(policy, **{part: text})


def _without_each(text: str, condition: str, instead: str) -> list[str]:
    """Return the text without each occurrence of a condition in turn."""
    found = re.finditer(condition, text)
    return [text[: match.start()] + instead + text[match.end() :] for match in found]


def _apply(tables: Iterable[str], policy: RowPolicy) -> None:
    for table in tables:
        _execute(row_security._statements(table, policy))


def _execute(statements: Iterable[str]) -> None:
    with as_system("a policy is opened"), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
