"""Where a program finds what: metadata of the protected address and of the server that gives tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from accounts.roles import KeyScope

SCOPES = (KeyScope.READ.value, KeyScope.WRITE.value)
"""What a program may be allowed. Keys, members and settings are for people."""
PROTECTED = "/mcp"
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
SERVER_METADATA = "/.well-known/oauth-authorization-server"


def issuer_of(request: HttpRequest) -> str:
    """Return who gives the tokens: this server, by the name that it was called by."""
    return request.build_absolute_uri("/").rstrip("/")


def resource_of(request: HttpRequest) -> str:
    """Return the one address that tokens are good for."""
    return issuer_of(request) + PROTECTED


def resource_metadata(request: HttpRequest) -> dict[str, Any]:
    """Return the metadata of the protected address (RFC 9728)."""
    return {
        "resource": resource_of(request),
        "authorization_servers": [issuer_of(request)],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
        "resource_name": "Locus",
    }


def server_metadata(request: HttpRequest) -> dict[str, Any]:
    """Return the metadata of the authorization server (RFC 8414)."""
    issuer = issuer_of(request)
    described = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth/authorize",
        "token_endpoint": f"{issuer}/oauth/token",
        "revocation_endpoint": f"{issuer}/oauth/revoke",
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    if settings.OAUTH_REGISTRATION_OPEN:
        described["registration_endpoint"] = f"{issuer}/oauth/register"
    return described


def challenge_of(request: HttpRequest, *, is_invalid: bool) -> str:
    """Return the challenge of a 401: where a program finds out how to get a token."""
    where = f'Bearer resource_metadata="{issuer_of(request)}{RESOURCE_METADATA}{PROTECTED}"'
    return f'{where}, error="invalid_token"' if is_invalid else where
