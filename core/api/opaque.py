"""Ids in paths that others have chosen: any characters, also slashes and ends of lines."""

from __future__ import annotations


class OpaqueConverter:
    """Takes the rest of a path as it is; Django's `path` stops at ends of lines."""

    regex = r"(?s:.+)"

    def to_python(self, value: str) -> str:
        """Return the id."""
        return value

    def to_url(self, value: str) -> str:
        """Return the id; `reverse` percent-encodes it."""
        return value
