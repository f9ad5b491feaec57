"""The error of an index engine."""

from __future__ import annotations

from core.errors import Overloaded


class EngineUnavailable(Overloaded):
    """The index engine does not answer."""

    default_message = "The search index does not answer. Try again in a moment."
