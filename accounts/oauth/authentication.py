"""Who asks at `/mcp`: keys and tokens as everywhere, and here alone also tokens of connected programs.

Elsewhere such a token is an unknown key: nobody looks for it there.
"""

from __future__ import annotations

from rest_framework.request import Request

from accounts.access.auth import (
    KeyAuthentication,
    external_user_of,
    parsed_session_id,
    presented_key,
    raw_headers,
    unknown_keys_counted,
)
from accounts.access.identity import in_session
from accounts.models import User
from accounts.oauth.connections import authenticate_program, is_access_token
from accounts.oauth.discovery import resource_of
from accounts.principal import Principal
from accounts.quotas.request_rates import count_request
from accounts.scope import continue_as


class ProgramAuthentication(KeyAuthentication):
    """API key, token, or the access token of a connected program."""

    def authenticate(self, request: Request) -> tuple[User, Principal] | None:
        """Return user and principal, or None for an anonymous request without credentials."""
        http = request._request
        headers = raw_headers(http)
        token = presented_key(headers)
        if token is None or not is_access_token(token):
            return super().authenticate(request)
        with unknown_keys_counted(http):
            key, principal = authenticate_program(token, resource_of(http))
        principal = principal.for_external_user(external_user_of(headers))
        continue_as(principal)
        session_id = http.GET.get("session_id")
        if session_id is not None:
            principal = in_session(principal, parsed_session_id(session_id))
        count_request(http, principal)
        return key.user, principal
