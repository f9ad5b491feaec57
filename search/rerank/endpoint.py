"""A reranker behind `POST …/rerank`, in either of the two formats that servers speak.

Cohere's, which Jina, vLLM and llama.cpp follow: `{"model", "query", "documents"}` gives
`{"results": [{"index", "relevance_score"}]}` (https://docs.cohere.com/reference/rerank).

That of Text Embeddings Inference: `{"query", "texts"}` gives `[{"index", "score"}]`
(https://huggingface.github.io/text-embeddings-inference/).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.endpoint import Endpoint, EndpointRefusal
from core.llm.payment import Payment
from search.rerank.base import Reranker

# How servers refuse a body of the wrong shape.
WRONG_SHAPE = (400, 422)


class EndpointReranker(Reranker):
    """One question to the endpoint at the start finds out which format it speaks."""

    # What every server known to us accepts in one request.
    passages = 32
    budget_secs = 2.0
    passages_per_step = 32

    def __init__(self, model: str) -> None:
        """Ask once; raise `ImproperlyConfigured` naming the setting if there is no useful answer."""
        if not settings.RERANKER_BASE_URL:
            raise ImproperlyConfigured(
                "RERANKER endpoint needs RERANKER_BASE_URL, e.g. http://127.0.0.1:8080, where /rerank is."
            )
        self._endpoint = Endpoint("RERANKER", "/rerank", model)
        self._model = model
        self.name = model or "rerank endpoint"
        self._has_texts = False
        try:
            self._ask("What?", ["That."], None)
        except EndpointRefusal as refusal:
            if refusal.status not in WRONG_SHAPE:
                raise
            self._has_texts = True
            self._ask("What?", ["That."], None)

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the endpoint's scores."""
        return self._ask(question, passages, within)

    def describe(self) -> str:
        """Return the model and the address without secrets."""
        return f"{self.name} at {self._endpoint.address}"

    def _ask(self, question: str, passages: Sequence[str], within: float | None) -> list[float]:
        body: dict[str, Any] = {"query": question}
        # An empty text is an error to many endpoints, and a text of one space is as meaningless.
        texts = [passage or " " for passage in passages]
        if self._has_texts:
            body |= {"texts": texts, "truncate": True}
        else:
            body |= {"documents": texts} | ({"model": self._model} if self._model else {})
        reply = self._endpoint.post(body, within=within)
        try:
            return _scores(reply, len(passages))
        except (ValueError, KeyError, TypeError) as error:
            raise self._endpoint.misunderstood("a /rerank endpoint", error) from error


def _scores(reply: Any, count: int) -> list[float]:
    rows = reply["results"] if isinstance(reply, dict) else reply
    scores = {row["index"]: float(row.get("relevance_score", row.get("score"))) for row in rows}
    if sorted(scores) != list(range(count)) or len(rows) != count:
        raise ValueError(f"{count} passages sent, scores of {sorted(scores)} received")
    if not all(map(math.isfinite, scores.values())):
        raise ValueError("scores that are not finite")
    return [scores[index] for index in range(count)]
