"""`/api/schema`: the OpenAPI document, made once."""

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
    """The schema as YAML or JSON, the same for everybody."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the schema; to make it takes a third of a second, so that is done once."""
        renderer = request.accepted_renderer
        response = HttpResponse(_rendered(str(renderer.media_type)), content_type=renderer.media_type)
        response["Content-Disposition"] = f'inline; filename="locus.{renderer.format}"'
        return response


@lru_cache(maxsize=8)
def _rendered(media_type: str) -> str | bytes:
    [renderer] = [each for each in SchemaView.renderer_classes if each.media_type == media_type]
    # What the schema lacks is a matter for tests, not for the log of every server.
    with GENERATOR_STATS.silence():
        schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return renderer().render(schema, renderer_context={})
