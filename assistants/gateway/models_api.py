"""`GET /v1/models`."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.configuration.assistants import listed_assistants
from assistants.gateway.plan import OUR_MODEL, models_of
from assistants.gateway.view import GatewayView
from assistants.models import Assistant
from core.errors import NotFound
from kb.embedding import embedding_model
from search.rerank.registry import reranker

CREATED = 1_760_000_000
"""Of all models, in seconds since 1970: clients expect a number, and nobody knows a better one."""


class ModelNamesView(GatewayView):
    """The names that a request's `model` may have."""

    def get(self, request: Request) -> Response:
        """List our own, those that write, embed and rerank, and assistants."""
        principal = principal_of(request)
        models = [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "locus"}
            for name in [*_names(principal), *_names_of_computing()]
        ]
        models += map(_as_model, listed_assistants(principal).order_by("name", "pk"))
        return Response({"object": "list", "data": models})


def _as_model(assistant: Assistant) -> dict[str, Any]:
    """Return an assistant as a model: its id never changes; requests may give its name as well."""
    return {
        "id": str(assistant.pk),
        "object": "model",
        "created": int(assistant.created_at.timestamp()),
        "owned_by": "assistant",
        "name": assistant.name,
        "description": assistant.description,
    }


def _names(principal: Principal) -> list[str]:
    try:
        return list(dict.fromkeys(models_of(principal, principal.default_workspace_id())))
    except NotFound:
        # A key of several workspaces names one with each request.
        return [OUR_MODEL]


def _names_of_computing() -> list[str]:
    chosen = reranker()
    return [embedding_model().name, *(chosen.names if chosen else [])]
