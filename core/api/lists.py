"""Lists in pages: `{results, next, previous}` with `?limit=` and `?cursor=` (contract §3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from django.core import signing
from django.db.models import QuerySet
from pydantic import Field
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from core.api.operations import ApiQuery
from core.api.validation import DIGITS, ApiModel
from core.database.replicas import read
from core.errors import ValidationError

Item = TypeVar("Item")
Pages = TypeVar("Pages", bound="ListPage[Any]")
NEWEST_FIRST = ("-created_at", "id")
OF_A_SEQUENCE = ("position", "position")


class ListQuery(ApiQuery):
    """What every list takes."""

    limit: Annotated[int, Field(ge=1, le=200), DIGITS] = Field(50, description="How many results a page has.")
    cursor: str | None = Field(
        None, description="Where to go on: as given in `next` and `previous`, never made by hand."
    )


class ListPage(ApiModel, Generic[Item]):
    """A page of a list, with the addresses of those before and after."""

    results: list[Item]
    next: str | None
    previous: str | None


def page_of(
    page: type[Pages],
    rows: QuerySet[Any] | Sequence[Any],
    shown: Callable[[Any], Any],
    request: Request,
    query: ListQuery,
    ordering: tuple[str, str] = NEWEST_FIRST,
) -> Pages:
    """Return the page of `rows` that a request asks for, each as `shown` makes it.

    `ordering` is that of a queryset, and total; a sequence has its own order.
    """
    in_pages = _CursorPages(query, ordering) if isinstance(rows, QuerySet) else _SequencePages(query)
    results = read(lambda: [shown(row) for row in in_pages.paginate_queryset(rows, request) or []])
    return page(results=results, next=in_pages.get_next_link(), previous=in_pages.get_previous_link())


class _CursorPages(CursorPagination):
    def __init__(self, query: ListQuery, ordering: tuple[str, str]) -> None:
        self.query, self.ordering = query, ordering

    def get_page_size(self, request: Request) -> int:
        return self.query.limit

    def encode_cursor(self, cursor: Cursor) -> str:
        """Return the URL of the page at `cursor`; signed, so that only our own come back."""
        signed = signing.dumps(list(cursor), salt=self._salt())
        return str(replace_query_param(self.base_url or "", self.cursor_query_param, signed))

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor, or raise `ValidationError` for one we did not make for this ordering."""
        if self.query.cursor is None:
            return None
        try:
            return Cursor(*signing.loads(self.query.cursor, salt=self._salt()))
        except signing.BadSignature:
            raise ValidationError("This cursor is not valid.", param="cursor") from None

    def _salt(self) -> str:
        return f"cursor {' '.join(self.ordering)}"


class _SequencePages(_CursorPages):
    def __init__(self, query: ListQuery) -> None:
        super().__init__(query, OF_A_SEQUENCE)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        self.base_url, size = request.build_absolute_uri(), self.query.limit
        cursor = self.decode_cursor(request)
        start = cursor.offset if cursor else 0
        self._before = max(0, start - size) if start else None
        self._after = start + size if start + size < len(queryset) else None
        return list(queryset[start : start + size])

    def get_next_link(self) -> str | None:
        return None if self._after is None else self.encode_cursor(Cursor(self._after, False, None))

    def get_previous_link(self) -> str | None:
        return None if self._before is None else self.encode_cursor(Cursor(self._before, True, None))
