"""Codes and tokens by oauthlib: this is what it asks, and the answers from our tables.

Programs are public clients: they have no secret, and prove by PKCE (S256 alone) that it was they who asked.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from oauthlib.common import Request
from oauthlib.oauth2 import AuthorizationEndpoint, BearerToken, RevocationEndpoint, TokenEndpoint
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error
from oauthlib.oauth2.rfc6749.grant_types import AuthorizationCodeGrant, RefreshTokenGrant
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256
from oauthlib.oauth2.rfc6749.request_validator import RequestValidator

from accounts.access.keys import digest_of, is_usable
from accounts.models import ApiKey, AuthorizationCode, Program, ProgramToken, ProgramTokenKind
from accounts.oauth.connections import (
    ACCESS_FOR,
    ACCESS_MARK,
    REFRESH_MARK,
    connect,
    disconnect,
    issue,
)
from accounts.oauth.discovery import PROTECTED, SCOPES

CODE_FOR = timedelta(minutes=2)


class ProgramAuthorizationServer(AuthorizationEndpoint, TokenEndpoint, RevocationEndpoint):  # type: ignore[misc]
    """The endpoints, for the name by which this server was called. Token requests need a transaction."""

    def __init__(self, issuer: str) -> None:
        validator = _Validator(issuer + PROTECTED)
        bearer = BearerToken(
            validator,
            token_generator=lambda _: ACCESS_MARK + secrets.token_urlsafe(32),
            refresh_token_generator=lambda _: REFRESH_MARK + secrets.token_urlsafe(32),
            expires_in=int(ACCESS_FOR.total_seconds()),
        )
        codes = _CodeGrant(validator)
        grants = {"authorization_code": codes, "refresh_token": RefreshTokenGrant(validator)}
        AuthorizationEndpoint.__init__(self, "code", bearer, {"code": codes})
        TokenEndpoint.__init__(self, "authorization_code", bearer, grants)
        RevocationEndpoint.__init__(self, validator)


class _CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    _code_challenge_methods = {"S256": code_challenge_method_s256}


class _InvalidTarget(CustomOAuth2Error):  # type: ignore[misc]
    """The program asks for another address than the one that is protected here (RFC 8707)."""

    def __init__(self, request: Request) -> None:
        super().__init__("invalid_target", request=request, description="Tokens are only for /mcp.")


class _Validator(RequestValidator):  # type: ignore[misc]
    """Answers oauthlib's questions. Names and parameters are the library's."""

    def __init__(self, resource: str) -> None:
        super().__init__()
        self._resource = resource

    # --- Who asks, and where answers go --------------------------------------------------------------------

    def validate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        request.client = _program(client_id)
        return request.client is not None

    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        return False

    def authenticate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        self._require_resource(request)
        return self.validate_client_id(client_id, request)

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return redirect_uri in request.client.redirect_uris

    def get_default_redirect_uri(
        self, client_id: str, request: Request, *args: Any, **kwargs: Any
    ) -> str | None:
        uris = request.client.redirect_uris
        return str(uris[0]) if len(uris) == 1 else None

    def confirm_redirect_uri(
        self,
        client_id: str,
        code: str,
        redirect_uri: str,
        client: Any,
        request: Request,
        *args: Any,
        **kw: Any,
    ) -> bool:
        return bool(redirect_uri == request.allowed.redirect_uri)

    def validate_response_type(
        self, client_id: str, response_type: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        self._require_resource(request)
        return response_type == "code" and request.response_mode in (None, "query")

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return grant_type in ("authorization_code", "refresh_token")

    def _require_resource(self, request: Request) -> None:
        named = [value for name, value in request.uri_query_params if name == "resource"]
        named += [value for name, value in request.decoded_body or () if name == "resource"]
        if any(value != self._resource for value in named):
            raise _InvalidTarget(request)

    # --- What is asked for ---------------------------------------------------------------------------------

    def get_default_scopes(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        return [SCOPES[0]]

    def validate_scopes(
        self, client_id: str, scopes: list[str], client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        # Programs ask for what other servers have, too, such as `offline_access`.
        request.scopes = [scope for scope in SCOPES if scope in scopes]
        return bool(request.scopes)

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        return True

    # --- Codes ---------------------------------------------------------------------------------------------

    def save_authorization_code(
        self, client_id: str, code: dict[str, str], request: Request, *args: Any, **kwargs: Any
    ) -> None:
        AuthorizationCode.objects.create(
            digest=digest_of(code["code"]),
            user=request.user,
            program=request.client,
            redirect_uri=request.redirect_uri,
            challenge=request.code_challenge,
            scopes=request.scopes,
            workspace_ids=request.workspace_ids,
            resource=self._resource,
            expires_at=timezone.now() + CODE_FOR,
        )

    def validate_code(
        self, client_id: str, code: str, client: Program, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        # Two requests with one code wait for each other here.
        found = AuthorizationCode.objects.select_for_update().filter(digest=digest_of(code)).first()
        if found is None or found.program_id != client.pk or found.resource != self._resource:
            return False
        if found.key is not None:
            disconnect(found.key, None, why="its code was used twice")
            return False
        if found.expires_at <= timezone.now() or not found.user.is_active:
            return False
        request.allowed, request.user, request.scopes = found, found.user, found.scopes
        return True

    def get_code_challenge(self, code: str, request: Request) -> str:
        return str(request.allowed.challenge)

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        return "S256"

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """Do nothing: a code that was turned into a connection names it, and is good for nothing else."""

    # --- Tokens --------------------------------------------------------------------------------------------

    def save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        if request.grant_type == "refresh_token":
            key = request.refreshed.key
        else:
            key = connect(request.allowed)
            request.allowed.key = key
            request.allowed.save(update_fields=["key"])
        issue(key, self._resource, request.scopes, token["access_token"], token["refresh_token"])

    def validate_refresh_token(
        self, refresh_token: str, client: Program, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        found = _token(refresh_token, client, ProgramTokenKind.REFRESH)
        if found is None or found.resource != self._resource:
            return False
        if found.replaced_at is not None:
            # Either the program or a thief sends it for the second time: nobody knows which.
            disconnect(found.key, None, why="its refresh token was used twice")
            return False
        if found.has_expired() or not is_usable(found.key):
            return False
        request.refreshed, request.user = found, found.key.user
        return True

    def get_original_scopes(
        self, refresh_token: str, request: Request, *args: Any, **kwargs: Any
    ) -> list[str]:
        key: ApiKey = request.refreshed.key
        return list(key.scopes)

    def rotate_refresh_token(self, request: Request) -> bool:
        ProgramToken.objects.filter(pk=request.refreshed.pk).update(replaced_at=timezone.now())
        return True

    def revoke_token(
        self, token: str, token_type_hint: str | None, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        found = _token(token, request.client)
        if found is not None:
            disconnect(found.key, None, why="its program has ended it")


def _program(client_id: str | None) -> Program | None:
    try:
        return Program.objects.filter(pk=UUID(client_id)).first() if client_id else None
    except ValueError:
        return None


def _token(token: str, program: Program, *kinds: ProgramTokenKind) -> ProgramToken | None:
    """Return a stored token of a program, locked: two requests with one token wait for each other."""
    found = ProgramToken.objects.select_for_update(of=("self",)).filter(
        digest=digest_of(token), key__program=program, kind__in=kinds or ProgramTokenKind.values
    )
    return found.select_related("key__user").first()
