"""What all REST endpoints share: error bodies and strict JSON (contract §3)."""

from __future__ import annotations

import json
import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.parsers import JSONParser
from rest_framework.response import Response

from core import errors
from core.text.storable import is_storable
from core.unavailable import as_unavailable

logger = logging.getLogger(__name__)
GONE = "did not affect any rows"
"""What Django says of an object to be saved that another request has deleted meanwhile."""
MAX_DEPTH = 64
"""How deep JSON may be nested: what is read without recursion must also be written and stored so."""


# --- Errors ----------------------------------------------------------------------------------------------


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Turn any error a view can raise into the contract's body; None (a 500) for what nobody foresaw."""
    error = as_locus_error(exception)
    if error is None:
        return None
    return Response(error.as_json(), status=error.status, headers=error.headers)


def as_locus_error(exception: Exception) -> errors.LocusError | None:
    """Return any error that a view can raise as one of ours; None for what nobody foresaw."""
    match exception:
        case errors.LocusError():
            return exception
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return errors.Unauthenticated()
        case exceptions.PermissionDenied():
            return errors.Forbidden()
        case exceptions.NotFound() | Http404():
            return errors.NotFound()
        case exceptions.MethodNotAllowed():
            return errors.MethodNotAllowed()
        case exceptions.UnsupportedMediaType():
            return errors.UnsupportedMediaType(str(exception.detail))
        case exceptions.ParseError() | SuspiciousOperation() if not isinstance(exception, RequestDataTooBig):
            return errors.ValidationError(str(exception))
        case RequestDataTooBig():
            return errors.TooLarge()
        case DatabaseError() if GONE in str(exception):
            return errors.NotFound()
    return as_unavailable(exception)


# --- Reading requests ------------------------------------------------------------------------------------


class StrictJSONParser(JSONParser):
    """JSON without NaN, NUL and lone surrogates, which neither JSON nor PostgreSQL can hold."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the parsed body, or raise `InvalidJson` or `ValidationError`."""
        try:
            body = super().parse(stream, media_type, parser_context)
        except (exceptions.ParseError, RecursionError) as error:
            raise errors.InvalidJson(f"The body is not valid JSON: {error}") from None
        refuse_unclean(body)
        return body


def refuse_unclean(value: Any, path: str = "", depth: int = 0) -> None:
    """Raise `ValidationError` naming the first string that can't be stored, or what is nested too deep."""
    if depth > MAX_DEPTH:
        raise errors.ValidationError(f"JSON must not be nested deeper than {MAX_DEPTH} levels.", param=path)
    if isinstance(value, str):
        if not is_storable(value):
            raise errors.ValidationError("Text must not contain NUL or lone surrogates.", param=path or None)
    elif isinstance(value, dict):
        for key, item in value.items():
            refuse_unclean(key, path)
            refuse_unclean(item, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            refuse_unclean(item, f"{path}[{index}]", depth + 1)


def json_param(name: str, value: str) -> Any:
    """Return the JSON given in a form field, or raise `ValidationError` naming it."""
    try:
        parsed_value = json.loads(value, parse_constant=_refuse_constant)
        refuse_unclean(parsed_value, name)
    except RecursionError:
        raise errors.ValidationError(f"{name} is nested too deep.", param=name) from None
    except ValueError:
        raise errors.ValidationError(f"{name} must be JSON.", param=name) from None
    return parsed_value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON.")
