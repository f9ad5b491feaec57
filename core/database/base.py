"""The database backend: before a statement it tells PostgreSQL whose rows to show.

A connection begins with the application's role, which owns the tables and sees all rows. For a principal it
changes to a second role without such powers, `<role>_tenant`, to which row-level security applies
(`accounts.row_security`). It goes on so until another context uses it: most statements cost nothing more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base as postgresql
from psycopg.pq import TransactionStatus

from core.row_access import SYSTEM, RowAccess, current_access

# PostgreSQL cuts longer names.
TENANT_ROLE = "left(session_user, 56) || '_tenant'"
# Since PostgreSQL 16 a member need not have the right to become the role.
HAS_TENANT_ROLE = f"""
    SELECT count(*) FROM pg_roles WHERE rolname = {TENANT_ROLE} AND pg_has_role(session_user, oid,
        CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)
"""  # noqa: S608
SHOW_ALL = "SELECT set_config('role', 'none', false)"
SHOW_SOME = f"""
    SELECT set_config('role', {TENANT_ROLE}, false), set_config('locus.user', %s, false),
        set_config('locus.workspaces', %s, false), set_config('locus.open_workspaces', %s, false),
        set_config('locus.external_user', %s, false)
"""
_ACCESS = "_locus_access"
_UNKNOWN = None
logger = logging.getLogger(__name__)
Execute = Callable[[str, Any, bool, dict[str, Any]], Any]


class DatabaseWrapper(postgresql.DatabaseWrapper):
    """A connection that shows the rows of `current_access()`."""

    _has_tenant_role: dict[str, bool] = {}
    """By alias, whether the second role exists. Without it all rows are shown; `doctor` says so."""

    def __init__(self, settings_dict: dict[str, Any], alias: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(settings_dict, alias)
        self.execute_wrappers.append(self._execute)

    def _execute(self, execute: Execute, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if self._is_pooled and self.autocommit and not current_access().is_system:
            # The role holds for one transaction, so a statement alone becomes one.
            try:
                with self.wrap_database_errors, self.connection.transaction():
                    self.apply_access()
                    return execute(sql, params, many, context)
            finally:
                self._forget_access()
        # The cursor may have been opened in another context.
        self.apply_access()
        return execute(sql, params, many, context)

    def _cursor(self, name: str | None = None) -> Any:
        self.ensure_connection()
        self.apply_access()
        return super()._cursor(name)  # type: ignore[misc]

    def apply_access(self) -> None:
        """Let PostgreSQL show the rows of this context from now on, if it does not already."""
        connection: psycopg.Connection | None = self.connection
        if self.alias == NO_DB_ALIAS:  # creates databases
            return
        wanted = current_access()
        if connection is None or wanted == getattr(connection, _ACCESS, SYSTEM):
            return
        # A failed transaction takes only its rollback, which shows nothing.
        if connection.info.transaction_status == TransactionStatus.INERROR:
            return
        is_idle = connection.info.transaction_status == TransactionStatus.IDLE
        if self._is_pooled and self.autocommit and is_idle:
            # `_execute` sets the role within the statement's transaction. The session belongs to everybody.
            return
        with self.wrap_database_errors:
            if not wanted.is_system and not self._may_restrict(connection):
                if getattr(connection, _ACCESS, SYSTEM) == SYSTEM:
                    return
                wanted = SYSTEM
            setattr(connection, _ACCESS, _UNKNOWN)
            if wanted.is_system:
                connection.execute(self._scoped(SHOW_ALL))
            else:
                connection.execute(self._scoped(SHOW_SOME), _settings(wanted))
            setattr(connection, _ACCESS, wanted)

    @property
    def _is_pooled(self) -> bool:
        """Whether a pooler gives each transaction another session: then roles hold for one transaction."""
        return bool(settings.DATABASE_DIRECT_URL) and self.alias == DEFAULT_DB_ALIAS

    def _scoped(self, statement: str) -> str:
        return statement.replace(", false)", ", true)") if self._is_pooled else statement

    def forget_tenant_role(self) -> None:
        """Look for the second role again."""
        self._has_tenant_role.pop(self.alias, None)

    def _may_restrict(self, connection: psycopg.Connection) -> bool:
        if self.alias not in self._has_tenant_role:
            row = connection.execute(HAS_TENANT_ROLE).fetchone()
            self._has_tenant_role[self.alias] = bool(row and row[0])
            if not self._has_tenant_role[self.alias]:
                logger.warning("PostgreSQL itself does not keep tenants apart: see manage.py doctor.")
        return self._has_tenant_role[self.alias]

    # PostgreSQL takes a setting back when the transaction or savepoint is that set it.

    def _commit(self) -> Any:
        try:
            return super()._commit()  # type: ignore[misc]
        finally:
            if self._is_pooled:
                self._forget_access()

    def _rollback(self) -> Any:
        try:
            return super()._rollback()  # type: ignore[misc]
        finally:
            self._forget_access()

    def _savepoint_rollback(self, sid: str) -> None:
        try:
            super()._savepoint_rollback(sid)  # type: ignore[misc]
        finally:
            self._forget_access()

    def _close(self) -> Any:
        if self.connection is not None and self.connection.info.transaction_status != TransactionStatus.IDLE:
            # The pool rolls back.
            self._forget_access()
        return super()._close()  # type: ignore[misc]

    def _forget_access(self) -> None:
        """Send the role again before the next statement, whoever that is for."""
        if self.connection is not None:
            setattr(self.connection, _ACCESS, _UNKNOWN)


def _settings(access: RowAccess) -> tuple[str, str, str, str]:
    return (
        "" if access.user_id is None else str(access.user_id),
        _array(access.workspace_ids),
        _array(access.open_workspace_ids),
        access.external_user_id or "",
    )


def _array(ids: Any) -> str:
    return "{" + ",".join(sorted(map(str, ids))) + "}"
