"""What every request begins with: the language of its pages; for users, their time zone and the visit."""

from __future__ import annotations

import time
from collections.abc import Callable
from zoneinfo import ZoneInfo

from allauth.usersessions.models import UserSession
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers

from accounts.access.second_factor import lacks_required_factor
from accounts.models import User
from accounts.people.reader_language import ALWAYS_ENGLISH, language_of, reader_formats
from core.http.error_pages import API_PREFIXES
from core.languages.numbers import number_formats

SEEN = "seen_at"
"""In the session: when the list of sessions was told of this browser, in seconds."""
SEEN_SECS = 300
WITHOUT_SECOND_FACTOR = (
    *("/accounts/security/", "/accounts/reauthenticate/", "/accounts/password/change/"),
    *("/accounts/logout/", "/static/", "/health"),
)


def profile_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Render pages in the user's language and zone, and keep the list of sessions true."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        user = request.user
        zone = user.time_zone if isinstance(user, User) else ""
        if isinstance(user, User):
            note_visit(request)
            if must_set_up_second_factor(request, user):
                return redirect("mfa_index")
        language = language_of(request)
        with (
            timezone.override(ZoneInfo(zone) if zone else None),
            translation.override(language),
            number_formats(reader_formats(request, language)),
        ):
            response = get_response(request)
        if not request.path.startswith(ALWAYS_ENGLISH):
            response.headers.setdefault("Content-Language", language)
            patch_vary_headers(response, ["Accept-Language"])
        return response

    return middleware


def must_set_up_second_factor(request: HttpRequest, user: User) -> bool:
    """Return whether the user may see no page but those that set up a second factor.

    The API refuses by itself (accounts/access/auth.py), because a key needs no second factor.
    """
    may_see = request.path.startswith((*API_PREFIXES, *WITHOUT_SECOND_FACTOR))
    return not may_see and lacks_required_factor(user)


def note_visit(request: HttpRequest) -> None:
    """Write when and where the session was last used; every few minutes, so that reading writes little."""
    now = int(time.time())
    if now - request.session.get(SEEN, 0) >= SEEN_SECS:
        request.session[SEEN] = now
        UserSession.objects.create_from_request(request)
