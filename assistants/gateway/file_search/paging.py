"""Lists as OpenAI's clients page through them: `after` and `before` name a thing of the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q, QuerySet
from pydantic import BaseModel, ConfigDict, Field
from rest_framework.request import Request

from core.api.validation import validated
from core.errors import NotFound

MOST = 100


class ObjectsQuery(BaseModel):
    """Which part of a list is wanted."""

    model_config = ConfigDict(extra="ignore")

    after: UUID | None = None
    before: UUID | None = None
    limit: int = Field(20, ge=1, le=MOST)
    order: Literal["asc", "desc"] = "desc"


class StoreFilesQuery(ObjectsQuery):
    """Which files of a store are listed."""

    filter: Literal["in_progress", "completed", "failed", "cancelled"] | None = None


class StoreContentQuery(BaseModel):
    """From which passage on the words of a file are wanted."""

    model_config = ConfigDict(extra="ignore")

    after: int = Field(0, ge=0, le=10_000_000)


class FilesQuery(ObjectsQuery):
    """Which files are listed; larger pages than ours are cut, and the client asks for the next."""

    limit: int = Field(MOST, ge=1, le=10_000)
    purpose: str | None = None


def query_of(request: Request, model: type[BaseModel] = ObjectsQuery) -> Any:
    """Return what the address asks for, as `model` has it; raise `ValidationError`."""
    return validated(model, request.query_params.dict())


def page_of_rows(
    rows: QuerySet[Any], query: ObjectsQuery, shown: Callable[[Sequence[Any]], list[dict[str, Any]]]
) -> dict[str, Any]:
    """Return a page of rows, by the time of their creation; raise `NotFound` for an unknown `after`."""
    limit, is_forward = min(query.limit, MOST), query.before is None
    for name, beyond in (("after", query.order == "asc"), ("before", query.order == "desc")):
        if (id := getattr(query, name)) is not None:
            rows = rows.filter(_beyond(rows, id, name, is_later=beyond))
    is_ascending = (query.order == "asc") == is_forward
    found = list(
        rows.order_by(*(("created_at", "pk") if is_ascending else ("-created_at", "-pk")))[: limit + 1]
    )
    page = found[:limit] if is_forward else found[:limit][::-1]
    data = shown(page)
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": len(found) > limit,
    }


def _beyond(rows: QuerySet[Any], id: UUID, param: str, *, is_later: bool) -> Q:
    here = rows.filter(pk=id).values_list("created_at", flat=True).first()
    if here is None:
        raise NotFound(param=param)
    sign = "gt" if is_later else "lt"
    return Q(**{f"created_at__{sign}": here}) | Q(created_at=here, **{f"pk__{sign}": id})
