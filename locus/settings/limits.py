"""What one client and one workspace may do to it."""

from environs import validate

from locus.settings.environment import env

MAX_CONNECTIONS_PER_ADDRESS = env.int("MAX_CONNECTIONS_PER_ADDRESS", 1000, validate=validate.Range(min=1))
# For a request's head, and between two parts of its body.
HEADER_TIMEOUT_SECS = env.float("HEADER_TIMEOUT_SECS", 15.0, validate=validate.Range(min=0.1))
BODY_TIMEOUT_SECS = env.float("BODY_TIMEOUT_SECS", 30.0, validate=validate.Range(min=0.1))
# Bytes a second, after the first BODY_TIMEOUT_SECS.
MIN_BODY_RATE = env.int("MIN_BODY_RATE", 4096, validate=validate.Range(min=1))
MAX_UPLOADS_PER_USER = env.int("MAX_UPLOADS_PER_USER", 8, validate=validate.Range(min=1))
MAX_STREAMS_PER_USER = env.int("MAX_STREAMS_PER_USER", 200, validate=validate.Range(min=1))
MAX_SOCKETS_PER_USER = env.int("MAX_SOCKETS_PER_USER", 200, validate=validate.Range(min=1))
MAX_RUNS_PER_USER = env.int("MAX_RUNS_PER_USER", 100, validate=validate.Range(min=1))

# So many per minute, in all processes together (accounts/quotas/request_rates.py); 0: any number.
REQUESTS_PER_MINUTE = env.int("REQUESTS_PER_MINUTE", 3000, validate=validate.Range(min=0))
RUNS_PER_MINUTE = env.int("RUNS_PER_MINUTE", 300, validate=validate.Range(min=0))
PAGE_IMAGES_PER_MINUTE = env.int("PAGE_IMAGES_PER_MINUTE", 600, validate=validate.Range(min=0))
# The part of these rates that one external user may have.
EXTERNAL_USER_SHARE = env.float("EXTERNAL_USER_SHARE", 1.0, validate=validate.Range(min=0.001, max=1))

# What a workspace may have, unless staff gave it quotas of its own (accounts/quotas/limits.py); None: any.
_COUNT = validate.Range(min=0)
QUOTA_DOCUMENTS: int | None = env.int("QUOTA_DOCUMENTS", None, validate=_COUNT)
QUOTA_STORAGE_BYTES: int | None = env.int("QUOTA_STORAGE_BYTES", None, validate=_COUNT)
QUOTA_TOKENS_PER_DAY: int | None = env.int("QUOTA_TOKENS_PER_DAY", None, validate=_COUNT)
QUOTA_RUNS_PER_MINUTE: int | None = env.int("QUOTA_RUNS_PER_MINUTE", None, validate=_COUNT)
