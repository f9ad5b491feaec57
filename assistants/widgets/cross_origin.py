"""Which sites may ask a widget: the origins of its binding, compared as browsers write them."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

from assistants.models import Binding, BindingKind
from core.row_access import as_system

METHODS = "GET, POST"
HEADERS = "authorization, content-type"
EXPOSED = "Retry-After, X-Execution-Id"
PREFLIGHT_SECS = "600"


@as_system("a preflight request has no token: the binding in its address says which sites may ask")
def allowed_origin(request: HttpRequest, binding_id: UUID) -> str | None:
    """Return the site that asks, if the widget may be embedded there; None for any other."""
    origin = request.headers.get("Origin", "")
    widgets = Binding.objects.filter(pk=binding_id, kind=BindingKind.WIDGET, origins__contains=[origin])
    return origin if origin and widgets.exists() else None


def add_headers(response: HttpResponseBase, origin: str | None, *, preflight: bool) -> None:
    """Let the pages of an allowed site read a reply. Cookies are never allowed."""
    patch_vary_headers(response, ["Origin"])
    if origin is None:
        return
    response["Access-Control-Allow-Origin"] = origin
    response["Access-Control-Expose-Headers"] = EXPOSED
    if preflight:
        response["Access-Control-Allow-Methods"] = METHODS
        response["Access-Control-Allow-Headers"] = HEADERS
        response["Access-Control-Max-Age"] = PREFLIGHT_SECS
