"""What a question finds, with what its words alone do not: the report that it names, and what belongs to it.

rank ─▶ only in the documents named (`named_documents.py`), if any ─▶ + companions (`companions.py`)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from accounts.principal import Principal
from core.llm.payment import Payment
from search.companions import with_companions
from search.named_documents import documents_named
from search.retrieval import DEFAULT, Question, Ranking, RankingSettings, rank

LOOKED_AT = 20
"""Of so many chunks the documents may be those that are named."""


@dataclass(frozen=True, slots=True)
class Found:
    """The chunks found, best first, and whether any was found by a name of what it holds."""

    ranking: Ranking
    is_certain: bool


def find(
    principal: Principal,
    question: Question,
    *,
    limit: int,
    settings: RankingSettings = DEFAULT,
    payment: Payment,
) -> Found:
    """Return at most `limit` chunks for a question; `payment` pays for the reranker, if that costs money."""
    ranking = rank(principal, question, limit=max(limit, LOOKED_AT), settings=settings, payment=payment)
    names = {each.chunk.document_id: each.chunk.document.name for each in ranking.results}
    named = documents_named(question.text, names)
    if named and len(named) < len(names):
        question = replace(question, document_ids=tuple(named))
        ranking = rank(principal, question, limit=limit, settings=settings, payment=payment)
    results, is_certain = with_companions(
        principal, question, ranking.results[:limit], limit, settings, payment
    )
    return Found(replace(ranking, results=results), is_certain)
