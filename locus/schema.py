"""`/api/schema`: the OpenAPI document, generated once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.http import HttpResponse
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request


class SchemaView(SpectacularAPIView):
    """The schema as YAML or JSON, the same for all callers."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the schema; generating it takes a third of a second, so it is cached."""
        renderer = request.accepted_renderer
        response = HttpResponse(_render_schema(str(renderer.media_type)), content_type=renderer.media_type)
        response["Content-Disposition"] = f'inline; filename="locus.{renderer.format}"'
        return response


@lru_cache(maxsize=1)
def built_schema() -> dict[str, Any]:
    """Return the schema as a dictionary; nobody changes it."""
    # Gaps in the schema are for tests to find, not for every server's log.
    with GENERATOR_STATS.silence():
        schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


@lru_cache(maxsize=8)
def _render_schema(media_type: str) -> str | bytes:
    [renderer] = [each for each in SchemaView.renderer_classes if each.media_type == media_type]
    return renderer().render(built_schema(), renderer_context={})
