"""What row-level security lets a principal read and write, as conditions in SQL (ADR 39).

They say the same as `accounts.scope`, a little more widely where exactness costs: roles are not checked. The
database backend sets the variables `locus.*` (`core.database`); a variable without a value shows no row.
"""

from __future__ import annotations

from dataclasses import dataclass

# A subquery is evaluated once for each statement, a function for each row.
USER = "(SELECT nullif(current_setting('locus.user', true), '')::int)"
WORKSPACES = "(SELECT nullif(current_setting('locus.workspaces', true), '')::uuid[])::uuid[]"
OPEN_WORKSPACES = "(SELECT nullif(current_setting('locus.open_workspaces', true), '')::uuid[])::uuid[]"
EXTERNAL_USER = "(SELECT nullif(current_setting('locus.external_user', true), ''))"

IN_WORKSPACE = f"workspace_id = ANY ({WORKSPACES})"
SAME_EXTERNAL_USER = f"external_user_id IS NOT DISTINCT FROM {EXTERNAL_USER}"
SHARED = f"(external_user_id IS NULL AND workspace_id = ANY ({OPEN_WORKSPACES}))"


@dataclass(frozen=True, slots=True)
class RowPolicy:
    """Which rows of a table a principal may read, and which it may insert, change and delete."""

    reads: str
    writes: str


# A function costs only rows that are in a conversation; a subquery would be planned for every statement. The
# policy of its table applies within: it shows sessions of one's own, and those that are shared.
FUNCTIONS = """
    CREATE OR REPLACE FUNCTION locus_is_own_session(wanted uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
    BEGIN RETURN EXISTS (SELECT FROM accounts_session WHERE id = wanted
        AND user_id = nullif(current_setting('locus.user', true), '')::int); END $$;
    CREATE OR REPLACE FUNCTION locus_is_shared_session(wanted uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS
    $$ BEGIN RETURN EXISTS (SELECT FROM accounts_session WHERE id = wanted AND shared); END $$
"""
IN_OWN_SESSION = "(session_id IS NULL OR locus_is_own_session(session_id))"


def same_as(table: str, column: str, *, only_user_writes: bool = False) -> RowPolicy:
    """Return the policy of rows that belong to a row of `table`, named by `column`: visible like that one.

    `only_user_writes` is for tables whose rows others than their user may be able to read.
    """
    # Row-level security applies within the subquery as well. It gives one value, so that PostgreSQL looks up
    # the few rows of a statement instead of hashing the whole table.
    condition = f"SELECT true FROM {table} owner WHERE owner.id = {column}"  # noqa: S608
    writes = f"{condition} AND owner.user_id = {USER}" if only_user_writes else condition
    return RowPolicy(f"({condition})", f"({writes})")


_OWN = f"user_id = {USER} AND {IN_WORKSPACE} AND {SAME_EXTERNAL_USER}"
OWN_ROWS = RowPolicy(_OWN, _OWN)
"""Of rows with `user_id`, `workspace_id` and `external_user_id`."""
_SHARED_INSIDE = f"{IN_WORKSPACE} AND external_user_id IS NULL AND {EXTERNAL_USER} IS NULL"
OWN_OR_SHARED_SESSIONS = RowPolicy(f"({_OWN}) OR (shared AND {_SHARED_INSIDE})", _OWN)
_IN_SHARED_SESSION = f"{_SHARED_INSIDE} AND session_id IS NOT NULL AND locus_is_shared_session(session_id)"
ROWS_OF_CONVERSATION = RowPolicy(f"({_OWN}) OR ({_IN_SHARED_SESSION})", _OWN)
"""Of rows with the columns of owned rows and `session_id`."""
ROWS_OF_EXECUTIONS = RowPolicy(f"({_OWN}) OR (tool = 'chat' AND {_IN_SHARED_SESSION})", _OWN)
"""Of a shared conversation only its answers, not what else was run within it."""
ROWS_OF_DOCUMENTS = RowPolicy(
    f"{IN_WORKSPACE} AND ({SAME_EXTERNAL_USER} OR {SHARED}) AND {IN_OWN_SESSION}",
    f"{IN_WORKSPACE} AND {SAME_EXTERNAL_USER} AND {IN_OWN_SESSION}",
)
"""Of rows with a document's scope columns."""
OWN_ENTRIES = RowPolicy(f"user_id = {USER} OR {IN_WORKSPACE}", IN_WORKSPACE)
"""Of the audit log: what a user has done outlives their membership, and the workspace."""
ROWS_OF_USER = RowPolicy(f"user_id = {USER}", f"user_id = {USER}")
ROWS_OF_WORKSPACE = RowPolicy(IN_WORKSPACE, IN_WORKSPACE)
