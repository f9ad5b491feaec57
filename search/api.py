"""`/api/v1/search`: chunks for a question, best first, with the scores of every stage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.access.identity import AskerFields
from accounts.audit.retrievals import Retrieval, record_search
from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.principal import Principal
from accounts.quotas.limits import admit_run
from accounts.quotas.request_rates import count_run
from core.api.operations import ReadBody, operation
from core.api.validation import ABSENT, ApiModel
from core.errors import NotFound
from core.http.client_address import current_address
from core.http.request_id import current_request_id
from kb import models
from kb.representations import BoundingBox, Chunk, ChunkMetadata
from search.explanation import Explanation, explain
from search.finding import find
from search.inputs import QuestionInput, searched_workspaces
from search.questions import DEFAULT
from search.retrieval import RankedChunk

EVERY_CANDIDATE = 10_000
"""More chunks than all stages together find."""
WITHOUT_RERANKER = replace(DEFAULT, rerank=0.0)


class SearchInput(QuestionInput, AskerFields):
    """What `POST search` takes."""

    limit: int = Field(10, ge=1, le=100, strict=True, description="How many chunks to return.")
    min_score: float | None = Field(
        None, allow_inf_nan=False, description="Leave out chunks with a lower `score`."
    )
    per_document: int | None = Field(
        None, ge=1, le=100, strict=True, description="At most so many chunks of one document: its best."
    )
    rerank: bool = Field(True, strict=True, description="Whether the best are compared once more, closely.")
    explain: bool = Field(False, strict=True, description="Add `explanation`: what each stage found and why.")


class StageScores(ApiModel):
    """What each stage gave a chunk; null where the stage did not run for it."""

    words: float | None = Field(description="BM25: 0 if none of the question's words stands in it.")
    vector: float | None = Field(description="Cosine similarity of the chunk and the question, -1 to 1.")
    sentence: float | None = Field(description="Null: no stage compares single sentences (ADR 14).")
    fused: float | None
    rerank: float | None


class SearchHit(ApiModel):
    """A chunk as `GET chunks/{id}` gives it, with its rank and scores."""

    rank: int
    chunk_id: UUID
    document_id: UUID
    document_name: str
    text: str
    page_number: int | None
    bbox: list[BoundingBox] | None
    start_time: float | None
    end_time: float | None
    metadata: ChunkMetadata
    score: float
    scores: StageScores


class SearchResult(ApiModel):
    """The answer of `POST search`."""

    query: str
    results: list[SearchHit]
    total_candidates: int = Field(description="How many chunks the results were chosen from.")
    reranked: bool | Literal["partial"] = Field(description="“partial”: there was no time for all of them.")
    timings: dict[str, float] = Field(description="Seconds by stage, in their order, and in total.")
    explanation: Annotated[Explanation, Field(description="Only with `explain`.")] = ABSENT


class SearchView(APIView):
    """Search without an answer."""

    # Asking needs no more than reading.
    required_scope = "read"

    @operation("search", tag="Search", body=SearchInput, answers={200: SearchResult}, fails=(404,))
    def post(self, request: Request, read_body: ReadBody[SearchInput]) -> SearchResult:
        """Return the chunks that answer the query best, of all that the caller may search."""
        return run_search(principal_of(request), read_body())


def run_search(principal: Principal, inputs: SearchInput) -> SearchResult:
    """Search, count it, and write into the audit log what was found; raise `LocusError`."""
    return run_ranked_search(principal, inputs)[0]


def run_ranked_search(
    principal: Principal, inputs: SearchInput
) -> tuple[SearchResult, Sequence[RankedChunk]]:
    """Do the same, and return also what the results were made from, in their order."""
    principal = inputs.asker(principal)
    inputs.check_visible(principal)
    count_run(principal)
    if principal.workspace_ids:
        # A key whose workspaces are gone finds nothing, and nobody pays.
        admit_run(_paying(principal))
    result, chosen = _search(principal, inputs)
    _record(principal, inputs, [found.chunk for found in chosen])
    return result, chosen


def _search(principal: Principal, inputs: SearchInput) -> tuple[SearchResult, list[RankedChunk]]:
    found = find(
        principal,
        inputs.question(),
        # Chunks that are left out are replaced by lower-ranked ones.
        limit=EVERY_CANDIDATE if inputs.explain or inputs.per_document else inputs.limit,
        settings=DEFAULT if inputs.rerank else WITHOUT_RERANKER,
        payment=LedgerPayment(lambda: Payer.of(_paying(principal), owner=principal.usage_owner)),
    )
    ranking = found.ranking
    chosen = _chosen(ranking.results, inputs)
    result = SearchResult(
        query=inputs.query,
        results=_hits(chosen),
        total_candidates=ranking.total_candidates,
        reranked=ranking.reranked,
        timings=ranking.timings,
    )
    if inputs.explain:
        result.explanation = explain(inputs.query, ranking, inputs.limit, found.spelling)
    return result, chosen


def _record(principal: Principal, inputs: SearchInput, found: Sequence[models.Chunk]) -> None:
    """Write into the audit log which chunks a search returns."""
    if not principal.workspace_ids:
        # A key whose workspaces are gone: nothing was searched, and no workspace's log would say so.
        return
    chunks: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for chunk in found:
        chunks[chunk.workspace_id].append(chunk.pk)
    searched = searched_workspaces(principal, inputs)
    retrieval = Retrieval(
        tool="search",
        owner=principal.usage_owner,
        workspace_id=min(searched, default=None) or _paying(principal),
        searched=searched,
        document_ids=inputs.document_ids,
        chunks=chunks,
        address=current_address(),
        request_id=current_request_id(),
    )
    record_search(retrieval)


def _chosen(results: Sequence[RankedChunk], inputs: SearchInput) -> list[RankedChunk]:
    """Return results with a sufficient score, limited for each document and in all."""
    seen: Counter[UUID] = Counter()
    chosen = []
    for found in results:
        seen[found.chunk.document_id] += 1
        is_good = inputs.min_score is None or _rounded(found.score) >= inputs.min_score
        if is_good and seen[found.chunk.document_id] <= (inputs.per_document or len(results)):
            chosen.append(found)
    return chosen[: inputs.limit]


def _paying(principal: Principal) -> UUID:
    """Return the workspace that pays for a search: the default one or, for a key without one, the first."""
    try:
        return principal.default_workspace_id()
    except NotFound:
        return min(principal.workspace_ids)


def _rounded(score: float) -> float:
    """Round a score as replies tell it: who limits a search by a score from a reply means that one."""
    return round(score, 4)


def _hits(results: Sequence[RankedChunk]) -> list[SearchHit]:
    return [_hit(found, rank) for rank, found in enumerate(results, start=1)]


def _hit(found: RankedChunk, rank: int) -> SearchHit:
    chunk = Chunk.of(found.chunk, found.chunk.document.name)
    scores = {
        stage: None if score is None else _rounded(score) for stage, score in asdict(found.scores).items()
    }
    return SearchHit(
        rank=rank,
        chunk_id=chunk.id,
        document_name=found.chunk.document.name,
        score=_rounded(found.score),
        scores=StageScores(sentence=None, **scores),
        **{name: value for name, value in chunk if name in SearchHit.model_fields},
    )
