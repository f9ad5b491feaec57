"""What is written about the work: logs, metrics, traces, the audit log."""

from environs import validate

from locus.settings.environment import env, refuse_all_but_http

# Read by core/tracing.py; the exporter reads the other variables of OpenTelemetry itself.
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "", validate=refuse_all_but_http)
LOG_FORMAT = env.str("LOG_FORMAT", "line", validate=validate.OneOf(["line", "json"]))
LOG_LEVEL = env.str("LOG_LEVEL", "INFO", validate=validate.OneOf(["DEBUG", "INFO", "WARNING", "ERROR"]))
METRICS_TOKEN = env.str("METRICS_TOKEN", "")
# 0: for ever.
AUDIT_RETENTION_DAYS = env.int("AUDIT_RETENTION_DAYS", 365, validate=validate.Range(min=0))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}{request}: {message}", "style": "{"},
        "json": {"()": "core.http.json_log.JsonFormatter"},
    },
    "filters": {
        "request": {"()": "core.http.request_id.RequestIdFilter"},
        "flood": {"()": "locus.door.log_flood.FloodFilter"},
        "address_token": {"()": "core.api.address_token.AddressTokenFilter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["request", "address_token"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        name: {"level": "WARNING"}
        for name in (
            *("sentence_transformers", "procrastinate", "httpx", "httpx2", "httpcore2", "uvicorn.access"),
            # Their debug messages contain whole requests, and so documents.
            *("anthropic", "openai", "pydantic_ai"),
        )
    }
    # They write a page for each failure that their caller handles; the second also words of foreign servers,
    # and the ids of its sessions with them.
    | {name: {"level": "CRITICAL"} for name in ("pymilvus", "mcp.client")}
    # What anybody on the network can cause.
    | {
        name: {"filters": ["flood"]} for name in ("locus.door.middleware", "core.http.hosts", "uvicorn.error")
    },
}
