"""What processes share and may lose."""

import re
from typing import Any

from environs import ValidationError

from locus.settings.environment import env, refuse_all_but_classes, refuse_all_but_objects


def _refuse_all_but_redis(url: str) -> None:
    if url and not re.fullmatch(r"(rediss?|unix)://\S+", url):
        raise ValidationError("Not an address such as redis://127.0.0.1:6379/0.")


# Django pickles what it stores here. Nobody may write to this table alone: it belongs to the role that owns
# the whole database. What comes from outside is stored as text that we parse (search/web/cache.py).
DATABASE_CACHE = "django.core.cache.backends.db.DatabaseCache"
# A server of Redis or Valkey, for the cache and for notifications (core/pubsub.py).
REDIS_URL = env.str("REDIS_URL", "", validate=_refuse_all_but_redis)
REDIS_PREFIX = env.str("REDIS_PREFIX", "locus")
REDIS_CACHE = "django.core.cache.backends.redis.RedisCache"
CACHE_BACKEND = env.str(
    "CACHE_BACKEND", REDIS_CACHE if REDIS_URL else DATABASE_CACHE, validate=refuse_all_but_classes
)
CACHE_LOCATION = env.str("CACHE_LOCATION", REDIS_URL or "locus_cache")
CACHE_OPTIONS: Any = env.json("CACHE_OPTIONS", {}, validate=refuse_all_but_objects)
# Who may write to a Redis must not be able to run code here, as pickles could.
_CACHE_DEFAULTS: dict[str, dict[str, Any]] = {
    DATABASE_CACHE: {"MAX_ENTRIES": 10_000},
    REDIS_CACHE: {"serializer": "core.json_serializer.JsonSerializer", "socket_timeout": 1},
}
CACHES = {
    "default": {
        "BACKEND": CACHE_BACKEND,
        "LOCATION": CACHE_LOCATION,
        "KEY_PREFIX": REDIS_PREFIX,
        "OPTIONS": _CACHE_DEFAULTS.get(CACHE_BACKEND, {}) | CACHE_OPTIONS,
    }
}
