"""How this installation is protected from its documents and from other accounts: reported, not repaired."""

from __future__ import annotations

import os
from dataclasses import dataclass

from django.db import connection

from accounts import row_security
from core.confinement import available_confinement


@dataclass(frozen=True, slots=True)
class Protection:
    """One kind of protection: its present state, and one sentence for each gap."""

    code: str
    state: str
    missing: list[str]


def protections() -> list[Protection]:
    """Check the kernel, the database's roles and our own account."""
    return [_confinement(), _role(), _rows(), _account()]


def _confinement() -> Protection:
    confinement = available_confinement()
    return Protection("reading", f"Files are read in a sandbox: {confinement}.", confinement.missing)


def _role() -> Protection:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user")
        [(name, is_superuser)] = cursor.fetchall()
    advice = f'Run ALTER ROLE "{name}" NOSUPERUSER, once it owns its database and pgvector is installed.'
    state = f"The database's role is {name}, {'a superuser' if is_superuser else 'no superuser'}."
    return Protection("database_role", state, [advice] if is_superuser else [])


def _rows() -> Protection:
    gaps = row_security.missing()
    state = "PostgreSQL itself keeps tenants apart" + (", with gaps." if gaps else ".")
    return Protection("row_security", state, gaps)


def _account() -> Protection:
    if os.geteuid() != 0:
        return Protection("account", "Locus runs as an account without root's rights.", [])
    return Protection("account", "Locus runs as root.", ["Start it as another account."])
