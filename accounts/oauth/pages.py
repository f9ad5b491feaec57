"""What people see: the question whether a program may be connected, and the list of those that are."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from oauthlib.oauth2.rfc6749.errors import FatalClientError, OAuth2Error

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.oauth.connections import chosen_workspaces, connected_programs, disconnect, workspaces_of
from accounts.oauth.discovery import issuer_of
from accounts.oauth.registering import is_on_this_machine, where_it_is
from accounts.oauth.server import ProgramAuthorizationServer
from accounts.roles import KeyScope
from accounts.scope import continue_as
from core.errors import ValidationError
from core.http.error_pages import page_of


class ProgramRedirect(HttpResponseRedirect):
    """A redirect to where a program wants its answers; these addresses were checked at its registration."""

    allowed_schemes = ["https", "http"]


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def authorize(request: HttpRequest) -> HttpResponse:
    """Ask whether a program may be connected, and send the answer to the program.

    A request with a fault is never sent back: otherwise anybody could register an address, and lead people
    there from ours.
    """
    user = _user(request)
    continue_as(principal_of_user(user))
    server = ProgramAuthorizationServer(issuer_of(request))
    address = request.build_absolute_uri()
    try:
        scopes, asked = server.validate_authorization_request(address)
        _check_challenge(asked)
        if request.method == "POST":
            return _answered(request, user, server, asked, scopes)
    except (FatalClientError, OAuth2Error, ValueError) as error:
        return page_of(request, ValidationError(_fault(error)))
    return _question(request, user, asked, scopes)


def _question(
    request: HttpRequest, user: User, asked: dict[str, Any], scopes: list[str], fault: str = ""
) -> HttpResponse:
    uri = asked["redirect_uri"]
    shown = {
        "program": asked["request"].client,
        "host": where_it_is(uri),
        "is_on_this_machine": is_on_this_machine(uri),
        "may_write": KeyScope.WRITE in scopes,
        "workspaces": workspaces_of(user),
        "fault": fault,
    }
    response = render(request, "accounts/program_question.html", shown, status=400 if fault else 200)
    # Browsers hold a form to this also where its answer redirects.
    response._csp_update = {"form-action": [_source(uri)]}  # type: ignore[attr-defined]
    return response


def _answered(
    request: HttpRequest,
    user: User,
    server: ProgramAuthorizationServer,
    asked: dict[str, Any],
    scopes: list[str],
) -> HttpResponse:
    issuer = issuer_of(request)
    if request.POST.get("answer") != "allow":
        refused = {"error": "access_denied", "iss": issuer}
        if asked["state"]:
            refused["state"] = asked["state"]
        return ProgramRedirect(_with(asked["redirect_uri"], refused))
    workspace_ids = chosen_workspaces(user, request.POST.getlist("workspaces"))
    if not workspace_ids:
        return _question(request, user, asked, scopes, gettext("Choose at least one workspace."))
    allowed = [scope for scope in scopes if scope != KeyScope.WRITE or "write" in request.POST]
    headers, _, _ = server.create_authorization_response(
        request.build_absolute_uri(),
        scopes=allowed or [KeyScope.READ.value],
        credentials={"user": user, "workspace_ids": workspace_ids},
    )
    return ProgramRedirect(_with(headers["Location"], {"iss": issuer}))


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def programs(request: HttpRequest) -> HttpResponse:
    """Show the connected programs, and disconnect one."""
    user = _user(request)
    continue_as(principal_of_user(user))
    found = connected_programs(user)
    if request.method == "POST":
        try:
            key = found.filter(pk=UUID(request.POST.get("id", ""))).first()
        except ValueError:
            key = None
        if key is None:
            raise Http404
        disconnect(key, user, why="its user has ended it")
        messages.success(request, gettext("%(name)s is no longer connected.") % {"name": key.name})
        return redirect("account_programs")
    shown = [
        {
            "key": key,
            "host": where_it_is(key.program.redirect_uris[0]) if key.program else "",
            "is_on_this_machine": bool(key.program and is_on_this_machine(key.program.redirect_uris[0])),
            "may_write": KeyScope.WRITE in key.scopes,
        }
        for key in found
    ]
    return render(request, "accounts/account_programs.html", {"programs": shown})


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _check_challenge(asked: dict[str, Any]) -> None:
    if not 43 <= len(asked["code_challenge"]) <= 128:
        raise ValueError("code_challenge")


def _fault(error: Exception) -> str:
    said = error.description or error.error if isinstance(error, OAuth2Error) else ""
    about = gettext("This program’s request is not valid. Begin again in the program.")
    return f"{about} ({said[:200]})" if said else about


def _with(uri: str, parameters: dict[str, str]) -> str:
    return f"{uri}{'&' if urlsplit(uri).query else '?'}{urlencode(parameters)}"


def _source(uri: str) -> str:
    """Return what a content security policy calls the origin; it has no word for addresses of IPv6."""
    parts = urlsplit(uri)
    return f"{parts.scheme}:" if ":" in (parts.hostname or "") else f"{parts.scheme}://{parts.netloc}"
