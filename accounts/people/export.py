"""One archive of a person's own data, made while it is downloaded.

Each app exports what it keeps of people: it appends a function to `exporters`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Q

from accounts.models import ApiKey, AuditEntry, Membership, Preferences, Session, User
from core.http.zip_stream import Member

Exporter = Callable[[User], Iterator[Member]]
exporters: list[Exporter] = []
ROWS_AT_ONCE = 200
ABOUT = """This archive holds what Locus keeps of {email}.

profile.json         name, address, language, time zone, theme; how you log in
preferences.json     how your questions are answered
memberships.json     your workspaces, and your role in each
api_keys.json        your API keys, without their secrets
programs.json        the programs that you have connected
sessions.json        where you are logged in
conversations.jsonl  your conversations
messages.jsonl       your questions in them; the answers are among the executions
assistants.jsonl     the assistants that you made, with their versions
audit.jsonl          what the audit log has of you
executions.jsonl     your questions and other runs of tools, with inputs and results
documents.jsonl      the documents of your personal workspace
documents/           their original files, in folders named by their ids

Files named .jsonl have one JSON object in each line. Times are in UTC unless they say otherwise.
"""


def members_of(user: User) -> Iterator[Member]:
    """Yield the archive's files."""
    yield "README.txt", [ABOUT.format(email=user.email).encode()]
    yield "profile.json", [as_json(_profile(user))]
    preferences = Preferences.objects.filter(user=user).values_list("values", flat=True).first()
    yield "preferences.json", [as_json(preferences or {})]
    yield "memberships.json", [as_json(list(_memberships(user)))]
    yield "api_keys.json", [as_json(list(_keys(user)))]
    yield "programs.json", [as_json(_programs(user))]
    yield "sessions.json", [as_json(list(_sessions(user)))]
    conversations = Session.unscoped.filter(user=user, external_user_id=None)
    of_conversation = ("id", "workspace_id", "title", "pinned", "shared", "search_scope", "created_at")
    yield "conversations.jsonl", lines(conversations.values("pk", *of_conversation))
    entries = AuditEntry.unscoped.filter(Q(user=user) | Q(target_type="user", target_id=str(user.pk)))
    of_entry = ("at", "action", "key_id", "workspace_id", "target_type", "target_id", "address", "details")
    yield "audit.jsonl", lines(entries.values("pk", *of_entry))
    for export in exporters:
        yield from export(user)


def lines(rows: Any, shown: Callable[[Any], Any] = lambda row: row) -> Iterator[bytes]:
    """Yield a JSON object and a line's end for each row of a query, some hundred at a time.

    A query reads a few rows after the last id, because no cursor outlasts a part of the archive.
    """
    rows, last = rows.order_by("pk"), None
    while found := list((rows if last is None else rows.filter(pk__gt=last))[:ROWS_AT_ONCE]):
        last = found[-1]["pk"] if isinstance(found[-1], dict) else found[-1].pk
        yield b"".join(as_json(shown(row), indent=None) for row in found)


def as_json(value: Any, indent: int | None = 2) -> bytes:
    """Return a value as JSON with a line's end."""
    return (json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=indent) + "\n").encode()


def _profile(user: User) -> dict[str, Any]:
    names = ("email", "name", "language", "formats", "time_zone", "theme", "date_joined", "last_login")
    factors = Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")
    logins = SocialAccount.objects.filter(user=user).values("provider", "uid", "date_joined", "extra_data")
    return {name: getattr(user, name) for name in names} | {
        "second_factors": list(factors),
        "logins_by_provider": list(logins),
    }


def _memberships(user: User) -> Iterable[dict[str, Any]]:
    for membership in Membership.objects.filter(user=user).select_related("workspace"):
        yield {
            "workspace_id": membership.workspace_id,
            "workspace": membership.workspace.name,
            "role": membership.role,
            "personal": membership.workspace.personal_of_id == user.pk,
            "since": membership.created_at,
        }


def _keys(user: User) -> Iterable[dict[str, Any]]:
    names = ("id", "name", "prefix", "scopes", "narrowed", "expires_at", "last_used_at", "created_at")
    return list(ApiKey.objects.filter(user=user, program=None).values(*names))


def _programs(user: User) -> list[dict[str, Any]]:
    keys = ApiKey.objects.filter(user=user).exclude(program=None).prefetch_related("workspaces")
    return [
        {
            "name": key.name,
            "redirect_uris": key.program.redirect_uris if key.program else [],
            "scopes": key.scopes,
            "workspace_ids": [each.pk for each in key.workspaces.all()],
            "connected_at": key.created_at,
            "last_used_at": key.last_used_at,
        }
        for key in keys.select_related("program").order_by("created_at")
    ]


def _sessions(user: User) -> Iterable[dict[str, Any]]:
    names = ("ip", "user_agent", "created_at", "last_seen_at")
    return list(UserSession.objects.filter(user=user).values(*names))
