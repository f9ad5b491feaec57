"""Whether this web process may be sent requests: its models are loaded, and it is not about to stop."""

from __future__ import annotations

import threading

_models = threading.Event()
_draining = threading.Event()


def note_models_loaded() -> None:
    """Say that no request has to wait for a model any more."""
    _models.set()


def begin_draining() -> None:
    """Say that this process takes nothing new, and ends when what it does is done."""
    _draining.set()


def are_models_loaded() -> bool:
    """Tell whether the models for searching are loaded."""
    return _models.is_set()


def is_draining() -> bool:
    """Tell whether this process is about to stop."""
    return _draining.is_set()
