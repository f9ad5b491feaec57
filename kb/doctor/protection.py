"""What protects this installation from its documents and from other accounts: reported, not repaired."""

from __future__ import annotations

import os
from dataclasses import dataclass

from django.db import connection

from core.confinement import offered


@dataclass(frozen=True, slots=True)
class Protection:
    """One kind of protection: what there is of it, and in a sentence each what is missing."""

    code: str
    state: str
    missing: list[str]


def protections() -> list[Protection]:
    """Look at the kernel, the database's role and our own account."""
    return [_walls(), _role(), _account()]


def _walls() -> Protection:
    walls = offered()
    return Protection("reading", f"Files are read behind {walls}.", walls.missing)


def _role() -> Protection:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user")
        [(name, is_superuser)] = cursor.fetchall()
    advice = f'Run ALTER ROLE "{name}" NOSUPERUSER, once it owns its database and pgvector is installed.'
    state = f"The database's role is {name}, {'a superuser' if is_superuser else 'no superuser'}."
    return Protection("database_role", state, [advice] if is_superuser else [])


def _account() -> Protection:
    if os.geteuid() != 0:
        return Protection("account", "Locus runs as an account without powers.", [])
    return Protection("account", "Locus runs as root.", ["Start it as another account."])
