"""One idiom for every operation of the API: what it takes and answers are pydantic models, declared once.

`operation` writes the models into the API's schema. The same models validate the query and the body, and make
the reply. A query parameter or field that a model lacks is refused: a misspelt filter must not widen a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, TypeVar, cast
from uuid import UUID

from django.core.files.base import File
from django.http import HttpResponseBase
from django.utils.datastructures import MultiValueDict
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.api.address_token import ADDRESS_TOKEN
from core.api.rest import refuse_unclean
from core.api.validation import ABSENT, ApiModel, Model, single_or_list, validated, without_nulls
from core.errors import UnknownField, ValidationError

Handler = TypeVar("Handler", bound=Callable[..., Any])

EXTERNAL_USER = OpenApiParameter(
    "X-External-User-Id",
    str,
    OpenApiParameter.HEADER,
    description="Speak for this end customer of your program: 1 to 255 characters, compared byte for byte.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="An `ETag`: 304 if nothing has changed."
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="An `ETag`: 412 if anything has changed."
)


class ApiQuery(ApiModel):
    """The query parameters of an operation: those that every operation takes."""

    model_config = ConfigDict(json_schema_extra=without_nulls)

    session_id: UUID | None = Field(
        None,
        description="Speak within this session: documents attached to it are listed and searched too.",
    )


class ErrorDetail(ApiModel):
    """Why a request failed: a code for programs, a message for people."""

    code: str
    message: str
    param: str = ABSENT
    details: dict[str, JsonValue] = ABSENT


class ErrorBody(ApiModel):
    """The body of every error."""

    error: ErrorDetail


_DESCRIPTIONS = {
    400: "`validation_error`, `unknown_field`, `conflict`, `invalid_json`; `param` names what is wrong",
    401: "`unauthenticated`: nobody, or a key that is unknown, expired or revoked",
    402: "`budget_exceeded`; `details.limit` tells whose limit it is",
    403: "`forbidden`: the key's scope, or the role in the workspace, does not suffice; `tool_disabled`",
    404: "`not_found`: unknown, or not visible to the caller",
    409: "`idempotency_conflict`, `cancelled`",
    410: "`events_expired`",
    412: "`precondition_failed`: it has changed since the `ETag` in `If-Match`",
    413: "`too_large`",
    415: "`unsupported_media_type`",
    416: "`range_not_satisfiable`; `Content-Range` tells the size",
    429: "`rate_limited`, `quota_exceeded`; `Retry-After` tells when to come back",
    500: "`internal`",
    502: "`provider_error`; `details.providers` tells how each service did",
    503: "`overloaded`",
    504: "`timeout`",
}
# Any request may meet these: a session it names may be invisible.
_ALWAYS = (400, 401, 403, 404, 429, 503)
_WITH_BODY = (413, 415)


def errors(*statuses: int) -> dict[int, OpenApiResponse]:
    """Return the schema of error responses, by HTTP status."""
    return {status: OpenApiResponse(ErrorBody, _DESCRIPTIONS[status]) for status in statuses}


Body = type[BaseModel] | Mapping[str, Any]
"""The model of a JSON body; or a model for each content type, that of a form first, or a schema of bytes.

A body of bytes is read as a form with one file would be.
"""
ReadBody = Callable[[], Model]
"""Returns the body of a request, or raises `ValidationError` for its first fault."""


def operation(
    id: str,
    *,
    tag: str,
    answers: Mapping[Any, Any],
    fails: Iterable[int] = (),
    query: type[ApiQuery] = ApiQuery,
    headers: Sequence[OpenApiParameter] = (),
    body: Body | None = None,
    address_token: bool = False,
) -> Callable[[Handler], Handler]:
    """Declare a view's method as an operation: its query parameters, bodies, answers and errors.

    The first paragraph of its docstring becomes the summary. `answers` and `fails` are by HTTP status; what
    any request may take or meet need not be named. `address_token`: a token may stand in the address, as
    `?token=`, because browsers can't set headers here. The authentication reads it.

    The method may have an argument `query`, which is the validated query, and an argument `read_body`: a
    function that returns the validated body, to be called once the caller is known to have the right to send
    one. A model that the method returns is answered with status 200.
    """

    def declare(handler: Handler) -> Handler:
        takes = inspect.signature(handler).parameters

        @wraps(handler)
        def answer(view: APIView, request: Request, **path: Any) -> HttpResponseBase:
            given = {
                "query": _read_query(request, query, address_token),
                "read_body": partial(_read_body, request, body or ApiModel),
            }
            reply = handler(view, request, **path, **{name: given[name] for name in given if name in takes})
            return respond(reply) if isinstance(reply, ApiModel) else reply

        text = inspect.getdoc(handler) or ""
        statuses = {*_ALWAYS, *fails, *(_WITH_BODY if body else ())}
        parameters: list[Any] = [query, *headers, EXTERNAL_USER]
        schema = extend_schema(
            operation_id=id,
            summary=" ".join(text.split("\n\n")[0].split()).rstrip("."),
            description=text,
            tags=[tag],
            parameters=parameters,
            request=body,
            responses={**answers, **errors(*sorted(statuses))},
        )
        declared = schema(answer)
        declared.takes_address_token = address_token  # type: ignore[attr-defined]
        return cast(Handler, declared)

    return declare


def respond(body: ApiModel, status: int = 200, headers: Mapping[str, Any] | None = None) -> Response:
    """Return a reply with a model as its body."""
    return Response(body.as_json(), status=status, headers=dict(headers or {}))


def _read_query(request: Request, model: type[ApiQuery], address_token: bool) -> ApiQuery:
    """Return the query parameters; raise for unknown, empty and unstorable ones, and for contradictions."""
    given = dict(request.query_params.lists())
    if address_token:
        given.pop(ADDRESS_TOKEN, None)
    known = {field.alias or name for name, field in model.model_fields.items()}
    for name, values in given.items():
        if name not in known:
            raise UnknownField(f"Unknown parameter “{name}”.", param=name)
        if not all(value.strip() for value in values):
            raise ValidationError(f"{name} must not be blank; leave it out.", param=name)
        for value in values:
            refuse_unclean(value, name)
    return validated(model, single_or_list(model, given))


def _read_body(request: Request, body: Body) -> BaseModel:
    """Return a JSON body or form as its model has it, or raise `ValidationError` for the first fault."""
    model = _model_of(request, body)
    if not isinstance(request.data, MultiValueDict):
        return validated(model, request.data)
    fields = dict(request.data.lists())
    for name, values in fields.items():
        for value in values:
            refuse_unclean(value.name if isinstance(value, File) else value, name)
    return validated(model, single_or_list(model, fields))


def _model_of(request: Request, body: Body) -> type[BaseModel]:
    if not isinstance(body, Mapping):
        return body
    given = body.get((request.content_type or "").partition(";")[0])
    form: type[BaseModel] = next(iter(body.values()))
    return given if isinstance(given, type) else form
