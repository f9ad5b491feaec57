"""From `GENERATION_PROVIDER` to an answerer."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from search.answer.base import Answerer

ANSWERERS = {"extractive": "search.answer.extractive.ExtractiveAnswerer"}


@cache
def answerer() -> Answerer:
    """Return the answerer the settings name; raise `ImproperlyConfigured` for an unknown one."""
    name = settings.GENERATION_PROVIDER
    if name not in ANSWERERS:
        raise ImproperlyConfigured(
            f"GENERATION_PROVIDER must be one of {', '.join(ANSWERERS)}, not “{name}”."
        )
    made: Answerer = import_string(ANSWERERS[name])()
    return made
