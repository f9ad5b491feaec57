"""The authentication schemes in the API's schema."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension

from core.api.address_token import ADDRESS_TOKEN, takes_address_token

ADDRESS_TOKEN_SCHEME = "addressToken"  # noqa: S105


class PrincipalScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A key or token in either header, the login's cookie, or a token in some addresses: any one of them."""

    target_class = "accounts.access.auth.PrincipalAuthentication"
    name = ["bearerKey", "apiKeyHeader", "sessionCookie", ADDRESS_TOKEN_SCHEME]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        """Return the four schemes."""
        return [
            {"type": "http", "scheme": "bearer", "description": "An API key, or a token made with one."},
            {"type": "apiKey", "in": "header", "name": "X-API-KEY", "description": "The same."},
            {
                "type": "apiKey",
                "in": "cookie",
                "name": settings.SESSION_COOKIE_NAME,
                "description": "The login of a browser; what changes anything needs `X-CSRFToken` too.",
            },
            {
                "type": "apiKey",
                "in": "query",
                "name": ADDRESS_TOKEN,
                "description": "A token, no key, where browsers can't set headers: "
                "event streams, files, images of pages, and websockets.",
            },
        ]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[str]]]:
        """Return that one of the schemes that the operation takes is enough."""
        in_address = takes_address_token(auto_schema.view, auto_schema.method)
        return [{name: []} for name in self.name if in_address or name != ADDRESS_TOKEN_SCHEME]
