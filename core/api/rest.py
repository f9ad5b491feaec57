"""What all REST endpoints share: error bodies, strict JSON, strict fields, cursor lists (contract §3)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core import signing
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions, serializers
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from core import errors
from core.text.storable import is_storable

logger = logging.getLogger(__name__)
MAX_DIGITS = 9
MAX_DEPTH = 64
"""How deep JSON may be nested: what is read without recursion must also be written and stored so."""


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
        parsed_value = json.loads(value, parse_constant=_refuse_constant)
        refuse_unclean(parsed_value, name)
    except RecursionError:
        raise errors.ValidationError(f"{name} is nested too deep.", param=name) from None
    except ValueError:
        raise errors.ValidationError(f"{name} must be JSON.", param=name) from None
    return parsed_value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON.")


# --- Lists -----------------------------------------------------------------------------------------------


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

    def encode_cursor(self, cursor: Cursor) -> str:
        """Return the URL of the page at `cursor`; signed, so that only our own come back."""
        signed = signing.dumps(list(cursor), salt=self._salt())
        return str(replace_query_param(self.base_url or "", self.cursor_query_param, signed))

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor, or raise `ValidationError` for one we did not make for this ordering."""
        given = request.query_params.get(self.cursor_query_param)
        if given is None:
            return None
        try:
            return Cursor(*signing.loads(given, salt=self._salt()))
        except signing.BadSignature:
            raise errors.ValidationError("This cursor is not valid.", param="cursor") from None

    def _salt(self) -> str:
        return f"cursor {' '.join(self.ordering)}"


class SequenceLists(CursorLists):
    """The same for what is no table, but always comes in the same order."""

    ordering = ("position", "position")

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the page of a sequence that the request asks for."""
        self.base_url, size = request.build_absolute_uri(), self.get_page_size(request)
        cursor = self.decode_cursor(request)
        start = cursor.offset if cursor else 0
        self._before = max(0, start - size) if start else None
        self._after = start + size if start + size < len(queryset) else None
        return list(queryset[start : start + size])

    def get_next_link(self) -> str | None:
        """Return the URL of the page after this one."""
        return None if self._after is None else self.encode_cursor(Cursor(self._after, False, None))

    def get_previous_link(self) -> str | None:
        """Return the URL of the page before this one."""
        return None if self._before is None else self.encode_cursor(Cursor(self._before, True, None))


def decimal_number(text: str) -> int | None:
    """Read digits; None for anything else, and for more of them than any of our numbers has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None
