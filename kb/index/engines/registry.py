"""The index engines by name; an engine's module is imported when it is chosen."""

from __future__ import annotations

from functools import cache

from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from kb.index.engines.base import IndexEngine

ENGINES = {
    "segments": "kb.index.engines.segments.SegmentsEngine",
    "milvus": "kb.index.engines.milvus.MilvusEngine",
}


@cache
def engine(name: str) -> IndexEngine:
    """Return an engine; raise `ImproperlyConfigured`, naming the setting, if it is unknown or lacks a
    package."""
    if name not in ENGINES:
        raise ImproperlyConfigured(f"SEARCH_ENGINE must be one of {', '.join(ENGINES)}, not “{name}”.")
    made: IndexEngine = import_string(ENGINES[name])()
    return made
