"""Runs of tools, their streams and events, and what they may cost."""

from decimal import Decimal

from environs import validate

from locus.settings.environment import env

# A response of the gateway whose client has left is cancelled after this time.
RESPONSE_LEFT_SECS = env.float("RESPONSE_LEFT_SECS", 30.0, validate=validate.Range(min=0))
SSE_PING_SECS = env.float("SSE_PING_SECS", 15.0, validate=validate.Range(min=0.1))
SSE_MAX_EVENT_BYTES = env.int("SSE_MAX_EVENT_BYTES", 32768, validate=validate.Range(min=512))
# How long a web server that is stopped goes on with its runs; 0 ends them at once.
DRAIN_SECS = env.float("DRAIN_SECS", 0.0, validate=validate.Range(min=0, max=3600))
# A run whose process has been silent for this long is marked as ended.
RUN_LEASE_SECS = env.float("RUN_LEASE_SECS", 15.0, validate=validate.Range(min=0.5))
EVENT_RETENTION_HOURS = env.float("EVENT_RETENTION_HOURS", 168.0, validate=validate.Range(min=0))
# US dollars that all workspaces together may spend; None is no limit.
MAX_COST: Decimal | None = env.decimal("MAX_COST", None, validate=validate.Range(min=0))
