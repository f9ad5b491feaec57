"""The API reference: readable by everybody, as the schema is."""

from __future__ import annotations

from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from locus.reference.page import groups_of, shapes_of
from locus.schema import built_schema


def reference(request: HttpRequest) -> HttpResponse:
    """Show the API's operations and shapes, in the frame of the product."""
    frame = "base.html" if request.user.is_authenticated else "locus/reference_open.html"
    return render(request, "locus/reference.html", {"frame": frame, "content": _content()})


@lru_cache(maxsize=1)
def _content() -> SafeString:
    """Render what is the same for every reader, once."""
    schema = built_schema()
    context = {
        "introduction": schema["info"]["description"],
        "version": schema["info"]["version"],
        "groups": groups_of(schema),
        "shapes": shapes_of(schema),
    }
    return mark_safe(render_to_string("locus/reference_content.html", context))  # noqa: S308 - a template's output
