"""How the cache in Redis writes values down: as JSON, which runs no code when it is read."""

from __future__ import annotations

import json
from typing import Any


class JsonSerializer:
    """A serializer of Django's `RedisCache`; tuples come back as lists."""

    def dumps(self, value: Any) -> bytes | int:
        """Return what is stored: numbers as they are, so that Redis can count them up."""
        if type(value) is int:
            return value
        return json.dumps(value).encode()

    def loads(self, stored: bytes | str) -> Any:
        """Return the value of which `dumps` wrote the form."""
        return json.loads(stored)
