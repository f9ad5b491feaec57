"""Sessions in words: which browser, where, and when it was last seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.http import HttpRequest
from django.utils.translation import gettext

from accounts.models import User

# Browsers name those they descend from, so the order counts.
BROWSERS = [
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
]
SYSTEMS = [
    *(("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows")),
    *(("Mac OS X", "Mac"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
]


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A login of the user that has not ended."""

    id: int
    browser: str
    address: str
    begun_at: datetime
    seen_at: datetime
    is_this: bool


def sessions_of(user: User, request: HttpRequest) -> list[BrowserSession]:
    """Return the user's sessions, this one first, then those seen last."""
    found = [
        BrowserSession(
            id=row.pk,
            browser=browser_in(row.user_agent),
            address=row.ip,
            begun_at=row.created_at,
            seen_at=row.last_seen_at,
            is_this=row.session_key == request.session.session_key,
        )
        for row in UserSession.objects.purge_and_list(user)
    ]
    return sorted(found, key=lambda session: (not session.is_this, -session.seen_at.timestamp()))


def end_sessions(user: User, request: HttpRequest, id: int | None) -> int:
    """End one of the user's other sessions, or all with None; return how many. Their streams end too."""
    others = UserSession.objects.filter(user=user).exclude(session_key=request.session.session_key)
    ended = list(others if id is None else others.filter(pk=id))
    for session in ended:
        session.end()
    return len(ended)


def browser_in(user_agent: str) -> str:
    """Return `Firefox on Windows`, or as much as a browser says of itself."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if browser and system:
        return gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or user_agent.partition("/")[0][:40] or gettext("Unknown program")
