"""Whether the right of a principal still holds, checked for many principals at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session as Login
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import ApiKey, Membership, Session, User
from accounts.principal import Principal
from core.row_access import as_system


def covers(now: Principal, then: Principal) -> bool:
    """Return whether a principal may still read all that it could read `then`."""
    is_open = then.external_user_id is None or then.open_workspace_ids <= now.open_workspace_ids
    return is_open and then.workspace_ids <= now.workspace_ids and then.scopes <= now.scopes


@as_system("checks the principals of many streams at once")
def still_hold(principals: Sequence[Principal]) -> list[bool]:
    """Return for each principal whether its right is unchanged or larger.

    It is smaller or gone when its user is deactivated, or its key is deleted, expired or narrowed. It is gone
    when its token has expired, the key's secret was replaced and its overlap is over, its login has ended (by
    logout, time or a new password), its conversation is deleted, the user has left one of the workspaces that
    it could read, or one of them was deleted. A few queries serve any number of principals.
    """
    present = _Present.of(principals)
    return [present.holds(principal) for principal in principals]


@dataclass(frozen=True, slots=True)
class _Present:
    """The present state of all that some principals were identified by."""

    readable: Mapping[int, frozenset[UUID]]
    """By active user, the workspaces of which the user is a member."""
    open: frozenset[UUID]
    """The workspaces of any user that are shared with external users."""
    keys: Mapping[UUID, ApiKey]
    narrowings: Mapping[UUID, frozenset[UUID]]
    logins: Mapping[str, int]
    """By session key, the logged-in user."""
    conversations: frozenset[UUID]
    now: datetime

    @classmethod
    def of(cls, principals: Iterable[Principal]) -> _Present:
        principals = list(principals)
        users = User.objects.filter(pk__in={each.user_id for each in principals}, is_active=True).in_bulk()
        keys = _keys({each.key_id for each in principals if each.key_id})
        readable: defaultdict[int, set[UUID]] = defaultdict(set)
        shared = set()
        memberships = Membership.objects.filter(user__in=users, workspace__deleted_at=None)
        for user, workspace, is_open in memberships.values_list(
            "user_id", "workspace_id", "workspace__share_with_external_users"
        ):
            readable[user].add(workspace)
            if is_open:
                shared.add(workspace)
        sessions = {each.session_id for each in principals if each.session_id}
        found = Session.unscoped.filter(pk__in=sessions).values_list("pk", flat=True) if sessions else []
        return cls(
            {user: frozenset(readable[user]) for user in users},
            frozenset(shared),
            keys,
            {key.pk: frozenset(each.pk for each in key.workspaces.all()) for key in keys.values()},
            _logins({each.login for each in principals if each.login}, users),
            frozenset(found),
            timezone.now(),
        )

    def holds(self, principal: Principal) -> bool:
        """Return whether a principal's right is unchanged or larger."""
        readable = self.readable.get(principal.user_id)
        if readable is None:
            return False
        if principal.token_expires_at is not None and principal.token_expires_at <= self.now:
            return False
        if principal.key_id is not None:
            key = self.keys.get(principal.key_id)
            if key is None or not principal.scopes <= set(key.scopes):
                return False
            if not key.accepts_secret(principal.secret_number):
                return False
            if key.narrowed:
                readable &= self.narrowings[key.pk]
        if principal.login is not None and self.logins.get(principal.login) != principal.user_id:
            return False
        if principal.session_id is not None and principal.session_id not in self.conversations:
            return False
        is_open = principal.external_user_id is None or principal.open_workspace_ids <= self.open
        return is_open and principal.workspace_ids <= readable


def _keys(ids: Iterable[UUID]) -> dict[UUID, ApiKey]:
    ids = list(ids)
    if not ids:
        return {}
    found = ApiKey.objects.filter(pk__in=ids).prefetch_related("workspaces")
    return {key.pk: key for key in found if not key.is_expired()}


def _logins(session_keys: Iterable[str], users: Mapping[int, User]) -> dict[str, int]:
    """Return the logged-in user of each session, by Django's own rules."""
    session_keys = list(session_keys)
    if not session_keys:
        return {}
    found = {}
    for login in Login.objects.filter(pk__in=session_keys, expire_date__gt=timezone.now()):
        data = login.get_decoded()
        user = users.get(int(data.get(SESSION_KEY, 0))) if BACKEND_SESSION_KEY in data else None
        hashed = str(data.get(HASH_SESSION_KEY, ""))
        if user is not None and constant_time_compare(hashed, user.get_session_auth_hash()):
            found[login.session_key] = user.pk
    return found
