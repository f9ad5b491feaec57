"""One idiom for every operation of the API: what it takes and answers is declared once, shown and enforced.

`operation` writes an operation into the API's schema. `ApiView` refuses the query parameters that the
operation did not declare: a misspelt filter must not widen a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel, JsonValue
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.views import APIView

from core.api.rest import refuse_unclean
from core.errors import Conflict, UnknownField, ValidationError

Handler = TypeVar("Handler", bound=Callable[..., Any])

SESSION = OpenApiParameter(
    "session_id",
    OpenApiTypes.UUID,
    description="Speak within this session: documents attached to it are listed and searched too.",
)
EXTERNAL_USER = OpenApiParameter(
    "X-External-User-Id",
    str,
    OpenApiParameter.HEADER,
    description="Speak for this end customer of your program: 1 to 255 characters, compared byte for byte.",
)
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
    description="How many results a page has.",
)
CURSOR = OpenApiParameter(
    "cursor", str, description="Where to go on: as given in `next` and `previous`, never made by hand."
)
LIST_PARAMETERS = [LIMIT, CURSOR]
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="An `ETag`: 304 if nothing has changed."
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="An `ETag`: 412 if anything has changed."
)


class ErrorDetail(BaseModel):
    """Why a request failed: a code for programs, a message for people."""

    code: str
    message: str
    param: str | None = None
    details: dict[str, JsonValue] | None = None


class ErrorBody(BaseModel):
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


def operation(
    id: str,
    *,
    tag: str,
    answers: Mapping[Any, Any],
    fails: Iterable[int] = (),
    query: Sequence[OpenApiParameter] = (),
    headers: Sequence[OpenApiParameter] = (),
    request: Any = empty,
) -> Callable[[Handler], Handler]:
    """Declare a view's method as an operation: its query parameters, bodies, answers and errors.

    The first paragraph of its docstring becomes the summary. `answers` and `fails` are by HTTP status; what
    any request may take or meet need not be named.
    """

    def declare(handler: Handler) -> Handler:
        text = inspect.getdoc(handler) or ""
        statuses = {*_ALWAYS, *fails, *(() if request in (empty, None) else _WITH_BODY)}
        schema = extend_schema(
            operation_id=id,
            summary=" ".join(text.split("\n\n")[0].split()).rstrip("."),
            description=text,
            tags=[tag],
            parameters=[*query, SESSION, *headers, EXTERNAL_USER],
            request=request,
            responses={**answers, **errors(*sorted(statuses))},
        )
        declared = schema(handler)
        declared.query = {one.name: one.many for one in [*query, SESSION]}  # type: ignore[attr-defined]
        return declared

    return declare


class ApiView(APIView):
    """A view whose methods are operations."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then refuse query parameters that the operation does not know."""
        super().initial(request, *args, **kwargs)
        handler = getattr(self, (request.method or "").lower(), None)
        _check_query(request, getattr(handler, "query", {}))


def _check_query(request: Request, known: Mapping[str, bool]) -> None:
    """Raise for unknown, empty and unstorable parameters, and for two values where there can be one."""
    for name, values in request.query_params.lists():
        if name not in known:
            raise UnknownField(f"Unknown parameter “{name}”.", param=name)
        if not all(value.strip() for value in values):
            raise ValidationError(f"{name} must not be blank; leave it out.", param=name)
        if len(set(values)) > 1 and not known[name]:
            raise Conflict(f"{name} is given twice with different values.", param=name)
        for value in values:
            refuse_unclean(value, name)
