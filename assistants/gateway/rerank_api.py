"""`POST /v1/rerank`: texts in the order of how well they answer a question, as Cohere and Jina have it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from assistants.gateway.computing import Computation
from assistants.gateway.errors import ModelNotFound
from assistants.gateway.plan import OUR_MODEL
from assistants.gateway.request import GatewayFields, ModelName
from assistants.gateway.view import GatewayView
from core.api.validation import validated
from core.errors import ProviderError, Timeout
from kb.embedding import embedding_model
from search.inputs import QueryText
from search.rerank.base import Reranker
from search.rerank.registry import reranker

MOST_DOCUMENTS = 256
MOST_CHARS = 50_000
WITHIN_SECS = 60.0
Text = Annotated[str, Field(max_length=MOST_CHARS)]


class TextObject(BaseModel):
    """A text as an object."""

    model_config = ConfigDict(extra="ignore")

    text: Text


class RerankRequest(GatewayFields):
    """A body of `POST /v1/rerank`."""

    query: QueryText
    documents: Annotated[list[Text | TextObject], Field(min_length=1, max_length=MOST_DOCUMENTS)]
    model: ModelName | None = None
    top_n: int | None = Field(None, ge=1)
    return_documents: bool = False

    def texts(self) -> list[str]:
        """Return the texts to compare."""
        return [text if isinstance(text, str) else text.text for text in self.documents]

    def chosen_reranker(self) -> Reranker:
        """Return the reranker of this installation; raise `ModelNotFound` for another or if it has none."""
        chosen = reranker()
        if chosen is None:
            raise ModelNotFound("This installation has no reranker.", param="model")
        if self.model not in (None, OUR_MODEL, *chosen.names):
            names = " or ".join(f"“{name}”" for name in chosen.names)
            raise ModelNotFound(f"Texts are reranked by {names} here.", param="model")
        return chosen


class RerankView(GatewayView):
    """Reranks texts."""

    def post(self, request: Request) -> Response:
        """Return the places of the texts, best first, with their scores."""
        body = validated(RerankRequest, request.data)
        texts = body.texts()
        chosen = body.chosen_reranker()
        chosen = chosen.suited_to(body.query, []) or chosen
        computation = Computation.admit(principal_of(request), body)
        scores = _scores(computation, chosen, body.query, texts)
        tokens = sum(embedding_model().count_tokens([body.query, *texts]))
        computation.count_tokens(tokens)
        best = sorted(range(len(texts)), key=lambda index: -scores[index])[: body.top_n]
        results: list[dict[str, Any]] = [{"index": at, "relevance_score": scores[at]} for at in best]
        if body.return_documents:
            results = [each | {"document": {"text": texts[each["index"]]}} for each in results]
        return Response(
            {
                "id": str(uuid4()),
                "model": chosen.name,
                "results": results,
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
                "meta": {"api_version": {"version": "1"}, "billed_units": {"search_units": 1}},
            }
        )


def _scores(computation: Computation, chosen: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Return the score of each text; raise `Timeout` or `ProviderError` where one has none."""
    owner, workspace_id = computation.principal.usage_owner, computation.workspace_id
    payment = LedgerPayment(lambda: Payer.of(workspace_id, owner=owner))
    deadline = time.monotonic() + WITHIN_SECS
    scores: list[float] = []
    for start in range(0, len(texts), chosen.passages_per_step):
        some = texts[start : start + chosen.passages_per_step]
        with computation.turn():
            found = chosen.rerank(query, some, deadline=deadline, payment=payment)
        known = [score for score in found if score is not None]
        if len(known) < len(some):
            raise _unfinished(deadline)
        scores += known
    return scores


def _unfinished(deadline: float) -> Exception:
    if time.monotonic() >= deadline:
        return Timeout("There was no time for all of them. Send fewer documents.")
    return ProviderError("The reranker failed, or nothing may be spent on it. Try again.")
