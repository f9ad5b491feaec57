"""Row-level security in the database: policies, the second role and its rights (ADR 39).

`apply` runs after each migration and changes only what differs from the models' `row_policy`. The role that
owns the tables passes the policies; the role `<owner>_tenant` does not (`core.database`).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models, transaction
from django.db.backends.utils import CursorWrapper

from accounts.row_policies import FUNCTIONS, RowPolicy
from core.database.base import HAS_TENANT_ROLE, TENANT_ROLE, DatabaseWrapper

logger = logging.getLogger(__name__)
ADVICE = (
    'CREATE ROLE "{role}" NOLOGIN; GRANT "{role}" TO "{login}"; as a superuser, then run manage.py migrate.'
)
COMMANDS = ("select", "insert", "update", "delete")
SCHEMA = "to_regnamespace(quote_ident(current_schema()))"
STATE = f"""
    SELECT relname, relrowsecurity,
        ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = pg_class.oid AND NOT attisdropped),
        ARRAY(SELECT obj_description(oid, 'pg_policy') FROM pg_policy WHERE polrelid = pg_class.oid)
    FROM pg_class WHERE relnamespace = {SCHEMA} AND relname = ANY (%s) ORDER BY relname
"""  # noqa: S608
LACKING_RIGHTS = f"""
    SELECT oid::regclass::text, relkind = 'S' FROM pg_class
    WHERE relnamespace = {SCHEMA} AND relkind IN ('r', 'p', 'v', 'S')
        AND pg_has_role(session_user, relowner, 'USAGE') AND NOT CASE relkind
            WHEN 'S' THEN has_sequence_privilege(%(role)s, oid, 'USAGE')
            ELSE has_table_privilege(%(role)s, oid, 'SELECT') AND has_table_privilege(%(role)s, oid, 'INSERT')
                AND has_table_privilege(%(role)s, oid, 'UPDATE')
                AND has_table_privilege(%(role)s, oid, 'DELETE')
        END
"""  # noqa: S608


def protected_models() -> dict[str, type[models.Model]]:
    """Return the models of all tables with tenants' rows, by the name of the table."""
    return {model._meta.db_table: model for model in apps.get_models() if getattr(model, "row_policy", None)}


def apply(using: str = DEFAULT_DB_ALIAS, **kwargs: Any) -> None:
    """Bring policies, role and rights up to date; a handler of `post_migrate`."""
    connection = connections[using]
    assert isinstance(connection, DatabaseWrapper)
    with transaction.atomic(using), connection.cursor() as cursor:
        outdated = _outdated(cursor)
        if outdated:
            cursor.execute(FUNCTIONS)
        for table, policy in outdated:
            for statement in _statements(table, policy):
                cursor.execute(statement)
        if _ensure_role(cursor):
            _grant(cursor)
    connection.forget_tenant_role()


def missing(using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Return a sentence for each gap: what the operator can do about it."""
    with connections[using].cursor() as cursor:
        gaps = [
            f"The table {table} lacks its policies: run manage.py migrate." for table, _ in _outdated(cursor)
        ]
        role, login = _names(cursor)
        cursor.execute(HAS_TENANT_ROLE)
        if not cursor.fetchone()[0]:
            return [*gaps, "Run " + ADVICE.format(role=role, login=login)]
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s", [role])
        if cursor.fetchone()[0]:
            gaps.append(f'{role} passes over the policies: ALTER ROLE "{role}" NOSUPERUSER NOBYPASSRLS.')
        cursor.execute(LACKING_RIGHTS, {"role": role})
        if cursor.fetchone():
            gaps.append(f"The role {role} lacks rights: run manage.py migrate.")
    return gaps


# --- Policies ----------------------------------------------------------------------------------------------


def _outdated(cursor: CursorWrapper) -> list[tuple[str, RowPolicy]]:
    """Return the tables whose policies differ from those of their models."""
    protected = protected_models()
    cursor.execute(STATE, [list(protected)])
    outdated = []
    for table, is_enabled, columns, versions in cursor.fetchall():
        model = protected[table]
        policy: RowPolicy = model.row_policy  # type: ignore[attr-defined]
        # A test or a command may have migrated to an earlier state.
        is_complete = {field.column for field in model._meta.local_concrete_fields} <= set(columns)
        if is_complete and not (is_enabled and versions == [_version(policy)] * len(COMMANDS)):
            outdated.append((table, policy))
    return outdated


def _statements(table: str, policy: RowPolicy) -> Iterator[str]:
    """Yield the statements that replace the policies of a table."""
    reads, writes = f"USING ({policy.reads})", f"USING ({policy.writes})"
    check = f"WITH CHECK ({policy.writes})"
    for command, condition in zip(COMMANDS, (reads, check, f"{writes} {check}", writes), strict=True):
        name = f"locus_{command}"
        yield f"DROP POLICY IF EXISTS {name} ON {table}"
        yield f"CREATE POLICY {name} ON {table} FOR {command} TO PUBLIC {condition}"
        yield f"COMMENT ON POLICY {name} ON {table} IS '{_version(policy)}'"
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"


def _version(policy: RowPolicy) -> str:
    return hashlib.sha256(f"{FUNCTIONS}{policy.reads}\n{policy.writes}".encode()).hexdigest()


# --- The second role ---------------------------------------------------------------------------------------


def _names(cursor: CursorWrapper) -> tuple[str, str]:
    """Return the names of the second role and of the role that logs in."""
    cursor.execute(f"SELECT {TENANT_ROLE}, session_user::text")
    role, login = cursor.fetchone()
    return role, login


def _ensure_role(cursor: CursorWrapper) -> bool:
    """Create the second role if our own may; return whether it is there. All works without it, too."""
    cursor.execute(HAS_TENANT_ROLE)
    if cursor.fetchone()[0]:
        return True
    role, login = _names(cursor)
    try:
        with transaction.atomic(cursor.db.alias):
            cursor.execute("SELECT count(*) FROM pg_roles WHERE rolname = %s", [role])
            if not cursor.fetchone()[0]:
                cursor.execute(f'CREATE ROLE "{role}" NOLOGIN')
            cursor.execute(f'GRANT "{role}" TO "{login}"')
    except DatabaseError as error:
        logger.warning(
            "PostgreSQL itself does not keep tenants apart (%s). Run %s",
            str(error).partition("\n")[0],
            ADVICE.format(role=role, login=login),
        )
        return False
    return True


def _grant(cursor: CursorWrapper) -> None:
    """Let the second role use, but not change, what our role owns."""
    role, _ = _names(cursor)
    cursor.execute(LACKING_RIGHTS, {"role": role})
    for name, is_sequence in cursor.fetchall():
        rights = "USAGE, SELECT ON SEQUENCE" if is_sequence else "SELECT, INSERT, UPDATE, DELETE ON TABLE"
        cursor.execute(f'GRANT {rights} {name} TO "{role}"')
