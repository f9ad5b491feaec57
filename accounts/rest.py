"""What all REST endpoints share: error bodies, strict JSON, strict fields, cursor lists (contract §3)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions, serializers
from rest_framework.pagination import CursorPagination
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import errors
from accounts.principal import is_clean

logger = logging.getLogger(__name__)
MAX_DIGITS = 9
API_PREFIXES = ("/api/", "/chunks/")


# --- Errors ----------------------------------------------------------------------------------------------


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Turn any error a view can raise into the contract's body; None (a 500) for what nobody foresaw."""
    error = _as_locus_error(exception)
    if error is None:
        return None
    return Response(error.as_json(), status=error.status, headers=error.headers)


def _as_locus_error(exception: Exception) -> errors.LocusError | None:
    match exception:
        case errors.LocusError():
            return exception
        case exceptions.ValidationError():
            param, message = next(_flatten(exception.detail))
            return errors.ValidationError(message, param=param or None)
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
    return None


def _flatten(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (`document_ids[0]`-like path, message) for each problem REST framework found."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            if isinstance(key, int):
                yield from _flatten(value, f"{path}[{key}]")
            else:
                own = key != "non_field_errors"
                yield from _flatten(value, f"{path}.{key}" if path and own else (key if own else path))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            if not nested or value:
                yield from _flatten(value, f"{path}[{index}]" if nested else path)
    else:
        yield path, str(detail)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown address: JSON for programs, a page for people."""
    if request.path.startswith(API_PREFIXES):
        return JsonResponse(errors.NotFound().as_json(), status=404)
    from django.views.defaults import page_not_found

    return page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer what nobody foresaw, without a stack trace."""
    if request.path.startswith(API_PREFIXES):
        body = {"error": {"code": "internal", "message": "Something went wrong here. It has been logged."}}
        return JsonResponse(body, status=500)
    from django.views.defaults import server_error as page

    return page(request)


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


def refuse_unclean(value: Any, path: str = "") -> None:
    """Raise `ValidationError` naming the first string that can't be stored."""
    if isinstance(value, str):
        if not is_clean(value):
            raise errors.ValidationError("Text must not contain NUL or lone surrogates.", param=path or None)
    elif isinstance(value, dict):
        for key, item in value.items():
            refuse_unclean(key, path)
            refuse_unclean(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            refuse_unclean(item, f"{path}[{index}]")


class StrictSerializer(serializers.Serializer[Any]):
    """A request body that knows all its fields; a misspelt one must not silently widen a search."""

    def to_internal_value(self, data: Any) -> Any:
        """Raise `UnknownField` for the first field that isn't declared."""
        if isinstance(data, dict):
            for name in data:
                if name not in self.fields:
                    raise errors.UnknownField(f"Unknown field “{name}”.", param=str(name))
        return super().to_internal_value(data)


def parsed(serializer: type[StrictSerializer], data: Any) -> dict[str, Any]:
    """Return the validated body, or raise."""
    instance = serializer(data=data)
    instance.is_valid(raise_exception=True)
    return dict(instance.validated_data)


def uuid_param(name: str, value: str) -> UUID:
    """Return a UUID given in a query or form, or raise `ValidationError` naming it."""
    try:
        return UUID(value)
    except ValueError:
        raise errors.ValidationError(f"{name} must be a UUID.", param=name) from None


def json_param(name: str, value: str) -> Any:
    """Return the JSON given in a form field, or raise `ValidationError` naming it."""
    try:
        parsed_value = json.loads(value)
    except ValueError:
        raise errors.ValidationError(f"{name} must be JSON.", param=name) from None
    refuse_unclean(parsed_value, name)
    return parsed_value


# --- Lists -----------------------------------------------------------------------------------------------


# What the lists' own parameters are called in the schema.
LIST_PARAMETERS = [
    OpenApiParameter("limit", int, description="How many, 1..200; 50 without it"),
    OpenApiParameter("cursor", str, description="Where to go on: as given in `next` and `previous`"),
]


class CursorLists(CursorPagination):
    """`{results, next, previous}` with `?limit=` and `?cursor=`."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"
    ordering = ("-created_at", "id")

    def get_page_size(self, request: Request) -> int:
        """Return `?limit=`, or raise `ValidationError` outside 1..200."""
        given = request.query_params.get("limit")
        if given is None:
            return self.page_size
        number = decimal_number(given)
        if number is None or not 1 <= number <= self.max_page_size:
            raise errors.ValidationError(f"limit must be 1 to {self.max_page_size}.", param="limit")
        return number

    def decode_cursor(self, request: Request) -> Any:
        """Return the cursor, or raise `ValidationError` for one we did not make."""
        try:
            return super().decode_cursor(request)
        except exceptions.NotFound:
            raise errors.ValidationError("This cursor is not valid.", param="cursor") from None


def decimal_number(text: str) -> int | None:
    """Read digits; None for anything else, and for more of them than any of our numbers has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def refuse_unknown_query(request: Request, known: frozenset[str]) -> None:
    """Raise `UnknownField` for a query parameter the list does not know."""
    for name in request.query_params:
        if name not in known | {"limit", "cursor", "session_id"}:
            raise errors.UnknownField(f"Unknown parameter “{name}”.", param=name)
