"""`GET /v1/models`."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.gateway.plan import OUR_MODEL, models_of
from assistants.gateway.view import GatewayView
from core.errors import NotFound

CREATED = 1_760_000_000
"""Of all models, in seconds since 1970: clients expect a number, and nobody knows a better one."""


class ModelNamesView(GatewayView):
    """The names that a request's `model` may have."""

    def get(self, request: Request) -> Response:
        """List them: our own, and the model that writes the answers of the caller's workspace."""
        models = [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "locus"}
            for name in _names(principal_of(request))
        ]
        return Response({"object": "list", "data": models})


def _names(principal: Principal) -> list[str]:
    try:
        return list(dict.fromkeys(models_of(principal, principal.default_workspace_id())))
    except NotFound:
        # A key of several workspaces names one with each request.
        return [OUR_MODEL]
