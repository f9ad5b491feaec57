"""Static files for test clients."""

from __future__ import annotations

from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from servestatic.middleware import ServeStaticMiddleware

_add_files = ServeStaticMiddleware.add_files_from_manifest
_known: dict[tuple[str, frozenset[tuple[str, str]]], dict[str, Any]] = {}


def remember_static_files() -> None:
    """Let the middleware look at the static files once.

    Every test client makes the middleware anew. Once the files are collected, looking at each of them took
    nine tenths of the time of tests that send thousands of requests.
    """
    ServeStaticMiddleware.add_files_from_manifest = _add_known_files


def _add_known_files(middleware: Any) -> None:
    storage: Any = staticfiles_storage
    key = str(storage.location), frozenset(storage.hashed_files.items())
    if key not in _known:
        _add_files(middleware)
        _known[key] = dict(middleware.files)
    middleware.files |= _known[key]
    middleware.insert_directory(storage.location, middleware.static_prefix)
