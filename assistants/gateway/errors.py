"""Our errors in the form that the clients of OpenAI and Perplexity know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response

from core.api.rest import as_locus_error
from core.errors import LocusError, ValidationError, status_of

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "budget_exceeded",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "invalid_request_error",
    415: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}
CODES = {
    "rate_limited": "rate_limit_exceeded",
    "timeout": "upstream_timeout",
    "provider_error": "server_error",
}
"""Our codes that these clients know by another name."""
NOT_AGAIN = ("budget_exceeded", "quota_exceeded", "provider_error", "idempotency_conflict", "cancelled")
"""Codes of errors that another attempt would meet again; the clients retry their statuses otherwise."""


class UnsupportedTool(ValidationError):
    """A tool that this server does not have."""

    code, default_message = "unsupported_tool", "This tool is not supported."


class UnsupportedParameter(ValidationError):
    """A parameter, or a value of one, whose meaning this server can't keep."""

    code, default_message = "unsupported_parameter", "This parameter is not supported."


class ModelNotFound(ValidationError):
    """A model that is not one of ours."""

    code, default_message = "model_not_found", "There is no such model. GET /v1/models lists them."


def error_json(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error `{code, message, param?, details?}` of ours in their form."""
    code = error["code"]
    return {
        "message": error["message"],
        "type": TYPES.get(status_of(code), "server_error"),
        "code": CODES.get(code, code),
        "param": error.get("param"),
    } | ({"details": error["details"]} if "details" in error else {})


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Answer any error that a view can raise; None (a 500) for what nobody foresaw."""
    error = as_locus_error(exception)
    return None if error is None else error_response(error)


def error_response(error: LocusError) -> Response:
    """Return the reply to an error that comes before a stream."""
    return stored_error_response(error.as_json()["error"], error.status, error.headers)


def stored_error_response(
    error: dict[str, Any], status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the reply to an error as executions store it."""
    response = Response({"error": error_json(error)}, status=status, headers=dict(headers or {}))
    if error["code"] in NOT_AGAIN:
        response["x-should-retry"] = "false"
    return response
