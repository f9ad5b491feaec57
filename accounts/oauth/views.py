"""What programs call: metadata, registration, tokens, revocation. Nobody is logged in here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from oauthlib.oauth2.rfc6749.errors import OAuth2Error

from accounts.access.throttling import PROGRAM_REGISTRATION, PROGRAM_TOKENS, Bucket, network_of, take
from accounts.oauth.discovery import issuer_of, resource_metadata, server_metadata
from accounts.oauth.registering import MOST_BYTES, RefusedRegistration, Registration, described, register
from accounts.oauth.server import ProgramAuthorizationServer
from core.errors import LocusError
from core.row_access import as_system

FORM = "application/x-www-form-urlencoded"
R = TypeVar("R", bound=HttpResponse)
Answer = tuple[Mapping[str, str], str | None, int]


@require_GET
def protected_resource(request: HttpRequest) -> HttpResponse:
    """Return the metadata of `/mcp`."""
    return JsonResponse(resource_metadata(request))


@require_GET
def authorization_server(request: HttpRequest) -> HttpResponse:
    """Return the metadata of the endpoints below."""
    return JsonResponse(server_metadata(request))


@csrf_exempt
@require_POST
def register_program(request: HttpRequest) -> HttpResponse:
    """Register a program, where the deployment lets anybody register."""
    if not settings.OAUTH_REGISTRATION_OPEN:
        raise Http404
    try:
        take(Bucket.of(PROGRAM_REGISTRATION, network_of(request)))
        if len(request.body) > MOST_BYTES:
            raise RefusedRegistration("invalid_client_metadata", f"Send at most {MOST_BYTES} bytes.")
        program = register(Registration.of(request.body))
    except RefusedRegistration as refused:
        return _error(refused.code, refused.message, 400)
    except LocusError as error:
        return _busy(error)
    return _uncached(JsonResponse(described(program), status=201))


@csrf_exempt
@require_POST
def give_tokens(request: HttpRequest) -> HttpResponse:
    """Turn a code or a refresh token into tokens."""
    return _answered(request, lambda server, *asked: server.create_token_response(*asked))


@csrf_exempt
@require_POST
def revoke_token(request: HttpRequest) -> HttpResponse:
    """End the connection that a token belongs to; a token that nobody knows is revoked already."""
    return _answered(request, lambda server, *asked: server.create_revocation_response(*asked))


def _answered(
    request: HttpRequest,
    ask: Callable[[ProgramAuthorizationServer, str, str, str, Mapping[str, str]], Answer],
) -> HttpResponse:
    if request.content_type != FORM or len(request.body) > MOST_BYTES:
        return _error("invalid_request", f"Send a form ({FORM}) of at most {MOST_BYTES} bytes.", 400)
    headers = {"Content-Type": FORM, "Authorization": request.headers.get("Authorization", "")}
    server = ProgramAuthorizationServer(issuer_of(request))
    try:
        body = request.body.decode()
        take(Bucket.of(PROGRAM_TOKENS, network_of(request)))
        with as_system("a program without a login turns what it has into tokens"), transaction.atomic():
            given, content, status = ask(server, request.build_absolute_uri(), "POST", body, headers)
    except OAuth2Error as error:
        return _error(error.error, error.description, error.status_code)
    except LocusError as error:
        return _busy(error)
    except ValueError:
        # oauthlib's word for a form that is none, and Python's for what is not UTF-8.
        return _error("invalid_request", "The form can't be read.", 400)
    response = HttpResponse(content or "", status=status, content_type="application/json")
    for name, value in given.items():
        response[name] = value
    return _uncached(response)


def _error(code: str, message: str | None, status: int) -> JsonResponse:
    body = {"error": code} | ({"error_description": message} if message else {})
    return _uncached(JsonResponse(body, status=status))


def _busy(error: LocusError) -> JsonResponse:
    response = _error("temporarily_unavailable", error.message, error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response


def _uncached(response: R) -> R:
    response["Cache-Control"] = "no-store"
    return response
