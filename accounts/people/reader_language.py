"""The language of pages and mails: of the reader's profile, else of the browser, else of the deployment."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language_from_request
from django.utils.translation.trans_real import parse_accept_lang_header

from accounts.models import User
from core.http.error_pages import API_PREFIXES
from core.languages import LANGUAGES, SOURCE_LANGUAGE
from core.languages.numbers import has_formats

ALWAYS_ENGLISH = (*API_PREFIXES, "/admin/", "/v1/", "/mcp", "/widgets/", "/static/", "/health", "/metrics")
"""Programs read these, and operators the admin panel (ADR 51)."""


def language_of(request: HttpRequest) -> str:
    """Return the language of the page that answers a request."""
    return SOURCE_LANGUAGE if request.path.startswith(ALWAYS_ENGLISH) else reader_language(request)


def reader_language(request: HttpRequest) -> str:
    """Return the language that who sends a request reads, whatever the address is."""
    user = getattr(request, "user", None)
    chosen = user.language if isinstance(user, User) else ""
    return chosen if chosen in LANGUAGES else get_language_from_request(request)


def reader_formats(request: HttpRequest, language: str) -> str:
    """Return the tag by which a page in a language writes dates and numbers, "" for the language itself.

    The profile says it, else the browser: who reads English pages in Britain or German ones in Switzerland.
    """
    user = getattr(request, "user", None)
    if isinstance(user, User) and user.formats:
        return user.formats
    tags = (tag for tag, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()))
    return next((tag for tag in tags if tag.startswith(f"{language}-") and has_formats(tag)), "")


def mail_language(request: HttpRequest, address: str) -> str:
    """Return the language of a mail to an address: its user's, else that of who causes the mail."""
    chosen = User.objects.filter(email=address.lower()).values_list("language", flat=True).first() or ""
    return chosen if chosen in LANGUAGES else reader_language(request)


def user_language(user: User) -> str:
    """Return the language of a mail that no request causes."""
    return user.language if user.language in LANGUAGES else str(settings.LANGUAGE_CODE)
