"""`POST /v1/vector_stores/{id}/search`: passages of a collection's documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.gateway.cited import address_of
from assistants.gateway.file_search.filters import RankingOptions, metadata_of
from assistants.gateway.file_search.finding import AddressedBody, visible_store
from assistants.gateway.file_search.shapes import Json, attributes_of
from assistants.gateway.view import GatewayView, base_url_of
from core.api.validation import validated
from kb.documents import documents_by_id
from search.api import SearchHit, SearchInput, run_ranked_search
from search.inputs import QueryText

MOST_QUERIES = 5


class StoreSearch(AddressedBody):
    """A body of `POST /v1/vector_stores/{id}/search`."""

    query: QueryText | Annotated[list[QueryText], Field(min_length=1, max_length=MOST_QUERIES)]
    max_num_results: int = Field(10, ge=1, le=50)
    filters: Any = None
    ranking_options: RankingOptions | None = None

    @property
    def queries(self) -> list[str]:
        """The queries, each of which is one search."""
        return [self.query] if isinstance(self.query, str) else self.query

    def search(self, query: str, store_id: UUID) -> SearchInput:
        """Return one search of ours in a collection."""
        filters: Json = {"collection_ids": [str(store_id)]}
        if metadata := metadata_of(self.filters, "filters"):
            filters["metadata"] = metadata
        ranker = self.ranking_options.ranker if self.ranking_options else None
        return validated(
            SearchInput,
            {
                "query": query,
                "filters": filters,
                "limit": self.max_num_results,
                "rerank": ranker != "none",
            },
        )


class StoreSearchView(GatewayView):
    """Search in a store."""

    def post(self, request: Request, id: str) -> Response:
        """Return passages, best first; several queries have one list, each passage once."""
        principal = principal_of(request)
        store, body = visible_store(principal, id), validated(StoreSearch, request.data)
        hits = _found(principal, body, store.pk)
        documents = documents_by_id(principal, {found.hit.document_id for found in hits})
        url = base_url_of(request)
        return Response(
            {
                "object": "vector_store.search_results.page",
                "search_query": body.queries,
                "data": [
                    _result(found, attributes_of(documents[found.hit.document_id]), url) for found in hits
                ],
                "has_more": False,
                "next_page": None,
            }
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage, and how likely it is about the question: 0 to 1."""

    hit: SearchHit
    relevance: float


def _found(principal: Principal, body: StoreSearch, store_id: UUID) -> list[_Found]:
    """Return passages by their best ranks: the scores of two questions can't be compared."""
    threshold = (body.ranking_options.score_threshold if body.ranking_options else None) or 0.0
    best: dict[UUID, _Found] = {}
    for query in body.queries:
        result, ranked = run_ranked_search(principal, body.search(query, store_id))
        for hit, chunk in zip(result.results, ranked, strict=True):
            known = best.get(hit.chunk_id)
            if chunk.relevance >= threshold and (known is None or hit.rank < known.hit.rank):
                best[hit.chunk_id] = _Found(hit, chunk.relevance)
    order = sorted(best.values(), key=lambda found: (found.hit.rank, -found.relevance))
    return order[: body.max_num_results]


def _result(found: _Found, attributes: Json, base_url: str) -> Json:
    """Return a passage in their form, and its place in ours."""
    hit = found.hit
    place = hit.model_dump(
        mode="json", include={"chunk_id", "document_id", "page_number", "bbox", "start_time", "end_time"}
    )
    return {
        "file_id": str(hit.document_id),
        "filename": hit.document_name,
        "score": round(found.relevance, 4),
        "attributes": attributes,
        "content": [{"type": "text", "text": hit.text}],
        "url": address_of(place, base_url),
    } | {name: value for name, value in place.items() if name != "document_id" and value is not None}
