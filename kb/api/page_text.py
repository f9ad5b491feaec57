"""`/api/v1/documents/{id}/pages/{n}/text`: the words of a page and where they stand."""

from __future__ import annotations

from typing import Self
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from core.api.operations import operation
from core.api.validation import ApiModel, decimal_number
from core.errors import NotFound
from kb import page_text
from kb.access import live_chunks
from kb.api.finding import visible_document


class PageTextLine(ApiModel):
    """A line or table cell of a page."""

    text: str
    bbox: tuple[float, float, float, float] = Field(description="x1, y1, x2, y2")
    chunk_id: UUID


class PageTextReply(ApiModel):
    """The words of a page; the sizes are null if nothing was read there."""

    page_number: int
    layout_width: float | None
    layout_height: float | None
    lines: list[PageTextLine]

    @classmethod
    def of(cls, number: int, found: page_text.LocatedPage) -> Self:
        """Return what may be shown of a page."""
        return cls(
            page_number=number,
            layout_width=round(found.page.width, 2) if found.page else None,
            layout_height=round(found.page.height, 2) if found.page else None,
            lines=[
                PageTextLine(text=line.text, bbox=line.box.corners, chunk_id=line.chunk_id)
                for line in found.lines
            ],
        )


class DocumentPageTextView(APIView):
    """What was read on a page, recognised words included."""

    @operation("documents_page_text", tag="Documents", answers={200: PageTextReply}, fails=(404,))
    def get(self, request: Request, id: str, number: str) -> PageTextReply:
        """Return the lines of page `number` in reading order, with their boxes and chunks."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        page = decimal_number(number)
        if page is None or not 1 <= page <= (document.page_count or 0):
            raise NotFound("The document has no such page.")
        return PageTextReply.of(page, page_text.page_text(live_chunks(principal, document), page))
