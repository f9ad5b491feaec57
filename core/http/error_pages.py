"""Error responses outside views: JSON for programs, a page for people, never a stack trace."""

from __future__ import annotations

import sys
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404, is_valid_path
from django.utils.http import escape_leading_slashes
from django.views import defaults

from core import errors
from core.http.request_id import current_request_id
from core.unavailable import as_unavailable

OF_OAUTH = ("/.well-known/oauth-", "/oauth/register", "/oauth/token", "/oauth/revoke")
API_PREFIXES = ("/api/", "/chunks/", "/v1/", "/chat/completions", "/mcp", *OF_OAUTH)
TEMPLATES = Path(settings.BASE_DIR) / "templates"
PAGE_OF_500, PAGE_OF_503 = ((TEMPLATES / f"{status}.html").read_text() for status in (500, 503))
"""Read at the start and shown unchanged: they need neither the database nor a template that may be broken."""


class PermanentRedirect(HttpResponsePermanentRedirect):
    """A redirect that keeps the request's method and body (RFC 9110 §15.4.9)."""

    status_code = 308


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django itself refuses; the log has the reason."""
    if _is_of_a_program(request):
        return _json(errors.ValidationError())
    return defaults.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer somebody who may not see a page."""
    if _is_of_a_program(request):
        return _json(errors.Forbidden())
    return defaults.permission_denied(request, exception)


def administrators_only(request: HttpRequest) -> HttpResponse:
    """Answer a logged-in user who is no administrator, in the admin panel."""
    reason = "Ask your administrator if you need a change there."
    return render(request, "403.html", {"exception": reason, "is_for_staff": True}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown address; redirect to the page that exists with, or without, a slash at its end."""
    if _is_of_a_program(request):
        return _json(errors.NotFound())
    if isinstance(exception, Resolver404) and is_valid_path(_other_form(request.path_info)):
        path, _, query = request.get_full_path().partition("?")
        # Without this, //example.org would lead to another site.
        target = escape_leading_slashes(_other_form(path))
        return PermanentRedirect(f"{target}?{query}" if query else target)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected error, or one of a service that fails for now."""
    # Django calls this while it handles the exception.
    if unavailable := as_unavailable(sys.exception()):
        if _is_of_a_program(request):
            return _json(unavailable)
        return HttpResponse(PAGE_OF_503, status=unavailable.status, headers=unavailable.headers)
    if _is_of_a_program(request):
        error = {
            "code": "internal",
            "message": "Something went wrong on this server. The log has the details.",
        }
        details = {"request_id": current_request_id()}
        return JsonResponse({"error": error | {"details": details}}, status=500)
    return HttpResponse(PAGE_OF_500, status=500)


def page_of(request: HttpRequest, error: errors.LocusError) -> HttpResponse:
    """Show one of our own errors on a page, with its status and headers."""
    response = render(request, "error.html", {"message": error.message}, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


def _is_of_a_program(request: HttpRequest) -> bool:
    return request.path.startswith(API_PREFIXES)


def _json(error: errors.LocusError) -> JsonResponse:
    return JsonResponse(error.as_json(), status=error.status, headers=error.headers)


def _other_form(path: str) -> str:
    return path.removesuffix("/") if path.endswith("/") else f"{path}/"
