"""What people have allowed programs: keys without a secret, and the tokens that speak for them."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.access.identity import principal_of_key
from accounts.access.keys import KEY_MARK, PREFIX_LENGTH, UnknownKey, digest_of, is_usable, note_use
from accounts.audit.recording import record
from accounts.models import (
    ApiKey,
    AuditAction,
    AuthorizationCode,
    Program,
    ProgramToken,
    ProgramTokenKind,
    User,
    Workspace,
)
from accounts.principal import Principal
from core.row_access import as_system

ACCESS_MARK = f"{KEY_MARK}access_"
REFRESH_MARK = f"{KEY_MARK}refresh_"
ACCESS_FOR = timedelta(hours=1)
REFRESH_FOR = timedelta(days=30)
"""So long a program may be silent before its user has to connect it again."""


def connected_programs(user: User) -> QuerySet[ApiKey]:
    """Return what a user has allowed programs, the newest first."""
    found = ApiKey.objects.filter(user=user).exclude(program=None)
    return found.select_related("program").prefetch_related("workspaces").order_by("-created_at", "id")


@transaction.atomic
def connect(code: AuthorizationCode) -> ApiKey:
    """Turn a code into a connection; an earlier one of the same user with the same program ends."""
    user, program = code.user, code.program
    for earlier in ApiKey.objects.filter(user=user, program=program):
        disconnect(earlier, user, why="connected again")
    key = ApiKey.objects.create(
        user=user,
        program=program,
        name=program.name,
        prefix=secrets.token_hex(PREFIX_LENGTH // 2),
        scopes=code.scopes,
        narrowed=True,
    )
    # Whoever has left a workspace since, is not given it back.
    workspaces = Workspace.objects.filter(pk__in=code.workspace_ids, members=user, deleted_at=None)
    key.workspaces.set(workspaces)
    record(
        AuditAction.PROGRAM_CONNECTED,
        user,
        target=("api_key", key.pk),
        program=program.client_id,
        scopes=list(key.scopes),
        workspaces=len(workspaces),
    )
    return key


@transaction.atomic
def disconnect(key: ApiKey, actor: User | None, *, why: str) -> None:
    """End a connection with all its tokens; what is open ends within seconds."""
    record(
        AuditAction.PROGRAM_DISCONNECTED,
        actor or key.user,
        target=("api_key", key.pk),
        program=str(key.program_id),
        why=why,
    )
    key.delete()


@as_system("stores tokens of a program, for which nobody is logged in")
def issue(key: ApiKey, resource: str, scopes: Collection[str], access: str, refresh: str) -> None:
    """Store the tokens of a connection, as digests."""
    now = timezone.now()
    common = {"key": key, "user_id": key.user_id, "resource": resource}
    ProgramToken.objects.create(
        **common,
        kind=ProgramTokenKind.ACCESS,
        digest=digest_of(access),
        scopes=sorted(scopes),
        expires_at=now + ACCESS_FOR,
    )
    ProgramToken.objects.create(
        **common,
        kind=ProgramTokenKind.REFRESH,
        digest=digest_of(refresh),
        scopes=key.scopes,
        expires_at=now + REFRESH_FOR,
    )
    Program.objects.filter(keys=key).update(last_used_at=now)


def is_access_token(credential: str) -> bool:
    """Whether a credential is meant as a program's token."""
    return credential.startswith(ACCESS_MARK)


@as_system("looks up whose token it is")
def authenticate_program(token: str, resource: str) -> tuple[ApiKey, Principal]:
    """Return the connection and the principal of an access token, or raise `UnknownKey`.

    The token must have been made for `resource`. It never has more than its connection has now.
    """
    tokens = ProgramToken.objects.select_related("key__user")
    found = tokens.filter(digest=digest_of(token), kind=ProgramTokenKind.ACCESS).first()
    if found is None or found.has_expired() or found.resource != resource or not is_usable(found.key):
        raise UnknownKey
    key = found.key
    note_use(key, key.secret_number)
    return key, replace(
        principal_of_key(key),
        scopes=frozenset(found.scopes) & frozenset(key.scopes),
        token_expires_at=found.expires_at,
    )


def workspaces_of(user: User) -> QuerySet[Workspace]:
    """Return the workspaces that a user may let programs read, the personal one first."""
    found = Workspace.objects.filter(members=user, deleted_at=None)
    return found.order_by("personal_of", "name", "id")


def chosen_workspaces(user: User, ids: Collection[str]) -> list[UUID]:
    """Return the ids of those workspaces of a user that are among `ids`."""
    wanted = set(ids)
    return [each for each in workspaces_of(user).values_list("pk", flat=True) if str(each) in wanted]
