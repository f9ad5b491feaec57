"""Whether what a principal was identified by still holds: looked up for many principals at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session as Login
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import ApiKey, Membership, Session, User
from accounts.principal import Principal


def covers(now: Principal, then: Principal) -> bool:
    """Tell whether a principal may still read all that it could when it was `then`."""
    is_open = then.external_user_id is None or then.open_workspace_ids <= now.open_workspace_ids
    return is_open and then.workspace_ids <= now.workspace_ids and then.scopes <= now.scopes


def still_hold(principals: Sequence[Principal]) -> list[bool]:
    """Tell of each principal whether its right is what it was, or more.

    It is not once its user is deactivated, its key deleted, expired, or narrower, its login over (by logout,
    time or a new password), its conversation deleted, or the user no longer a member of one of the
    workspaces that it could read. A few queries serve any number of principals.
    """
    present = _Present.of(principals)
    return [present.holds(principal) for principal in principals]


@dataclass(frozen=True, slots=True)
class _Present:
    """What there is now of all that some principals were identified by."""

    readable: Mapping[int, frozenset[UUID]]
    """By active user, the workspaces with a membership,"""
    open: frozenset[UUID]
    """and those of any user that are shared with external users."""
    keys: Mapping[UUID, ApiKey]
    narrowings: Mapping[UUID, frozenset[UUID]]
    logins: Mapping[str, int]
    """By session key, who is logged in."""
    conversations: frozenset[UUID]

    @classmethod
    def of(cls, principals: Iterable[Principal]) -> _Present:
        principals = list(principals)
        users = User.objects.filter(pk__in={each.user_id for each in principals}, is_active=True).in_bulk()
        keys = _keys({each.key_id for each in principals if each.key_id})
        readable: defaultdict[int, set[UUID]] = defaultdict(set)
        shared = set()
        memberships = Membership.objects.filter(user__in=users)
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
        )

    def holds(self, principal: Principal) -> bool:
        """Tell whether a principal's right is what it was, or more."""
        readable = self.readable.get(principal.user_id)
        if readable is None:
            return False
        if principal.key_id is not None:
            key = self.keys.get(principal.key_id)
            if key is None or not principal.scopes <= set(key.scopes):
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
    """Return who is logged in by which session, as Django itself decides it."""
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
