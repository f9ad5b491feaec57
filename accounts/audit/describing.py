"""Entries of the audit log in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext
from pydantic import JsonValue

from accounts.models import ApiKey, AuditEntry

MOST_CHARS = 200


@dataclass(frozen=True, slots=True)
class DescribedEntry:
    """What the page of a workspace says of an entry."""

    at: datetime
    action: str
    who: str
    how: str
    """With which key, and for which external user."""
    target: str
    details: Sequence[tuple[str, str]]
    """Names and values."""
    address: str


def described_entries(entries: Iterable[AuditEntry]) -> list[DescribedEntry]:
    """Return entries in words; one query finds the keys of all."""
    entries = list(entries)
    keys = ApiKey.objects.in_bulk({entry.key_id for entry in entries if entry.key_id})
    return [_described(entry, keys.get(entry.key_id) if entry.key_id else None) for entry in entries]


def _described(entry: AuditEntry, key: ApiKey | None) -> DescribedEntry:
    how = []
    if entry.key_id:
        how.append(_by_key(key) if key else gettext("with a deleted API key"))
    if entry.external_user_id is not None:
        name = entry.external_user_id
        words = gettext("for %(external_user)s") % {"external_user": name} if name else ""
        how.append(words or gettext("for a deleted external user"))
    return DescribedEntry(
        at=entry.at,
        action=entry.get_action_display(),
        who=entry.user.email if entry.user else gettext("Nobody in particular, or a deleted user"),
        how=", ".join(how),
        target=f"{entry.target_type} {entry.target_id}".strip(),
        details=[(name.replace("_", " "), _value(value)) for name, value in entry.details.items()],
        address=entry.address,
    )


def _by_key(key: ApiKey) -> str:
    if key.program_id is not None:
        return gettext("by the connected program %(name)s") % {"name": key.name}
    return gettext("with the API key %(prefix)s…") % {"prefix": key.prefix}


def _value(value: JsonValue) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}…"
