"""The authentication schemes in the API's schema."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension


class PrincipalScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A key in either header, or the login's cookie: any one of them."""

    target_class = "accounts.access.auth.PrincipalAuthentication"
    name = ["bearerKey", "apiKeyHeader", "sessionCookie"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        """Return the three schemes."""
        return [
            {"type": "http", "scheme": "bearer", "description": "An API key."},
            {"type": "apiKey", "in": "header", "name": "X-API-KEY", "description": "The same key."},
            {
                "type": "apiKey",
                "in": "cookie",
                "name": settings.SESSION_COOKIE_NAME,
                "description": "The login of a browser; what changes anything needs `X-CSRFToken` too.",
            },
        ]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[str]]]:
        """Return that one of them is enough."""
        return [{name: []} for name in self.name]
