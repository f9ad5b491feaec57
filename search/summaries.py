"""Summaries written by the model that answers: an abstract and key points, each sentence cited and checked.

    chunks of the document ─▶ contexts ─▶ generator ─▶ resolve the citations ─▶ statements with places

The way of an answer (`search.answering`), with all its checks: a sentence that no chunk supports is left out.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from uuid import UUID

from django.db import transaction

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.principal import Principal
from accounts.quotas.limits import admit_run
from accounts.quotas.request_rates import count_run
from accounts.usage.counting import UsageCount, count_usage
from core.errors import Conflict, ProviderError, Timeout
from core.threads import give_connection_back
from kb.access import live_chunks
from kb.models import Chunk, Document, Modality, Searchable
from kb.summaries.making import PlacedSentence, summary_of
from kb.summaries.written import (
    WrittenStatement,
    WrittenSummary,
    store_written_summary,
    written_summary_of,
)
from search.answering import AnswerStream, chosen_generator, embed, resident_calibration
from search.citations.resolve import Resolved
from search.citations.verifying import verify_with_deadline
from search.contexts import ChunkContext, context_of_chunk
from search.generation.base import GenerationRequest
from search.generation.registry import EXTRACTIVE
from search.preferences import rag_settings

MOST_CHUNKS = 16
OPENING = 3
"""So many chunks at the beginning are always read."""
TIMEOUT_SECS = 90.0
FEWEST = 2
"""A summary of fewer sentences that stand on the document is none."""
QUESTION = (
    "Summarise this document, in the language of the sources. First an abstract: one paragraph of two to "
    "four sentences that say what the document is and what its main result is. Then the key points: a "
    "Markdown list of three to seven items, each one sentence. Write no headings, nothing before and nothing "
    "after."
)
_CITATION = re.compile(r'<citation id="[^"]*+">\[\d++\]</citation>')
_LIST_ITEM = re.compile(r"\A\s*+(?:[-*+]|\d+[.)])\s")
_MARKS = re.compile(r"\*\*|__|`|^\s*(?:[-*+>#]++|\d+[.)])\s+")


def can_write(principal: Principal, document: Document) -> str | None:
    """Return the model that would write a summary; None without one."""
    name = rag_settings(principal, document.workspace_id).generation_model
    return None if name == EXTRACTIVE else name


def write_summary(principal: Principal, document: Document) -> WrittenSummary:
    """Return the model's summary of the document, written and kept now if there is none yet.

    The document's workspace pays, on behalf of the principal. Raises `Conflict` without a model or before
    the document is indexed, `ProviderError` if the model fails or writes nothing that the document supports,
    `BudgetExceeded`, `QuotaExceeded` and `RateLimited`.
    """
    known = written_summary_of(principal, document)
    if known is not None:
        return known
    model = can_write(principal, document)
    if model is None:
        raise Conflict("No language model is connected here. The summary without one is always there.")
    if document.searchable != Searchable.FULL or document.indexed_at is None:
        raise Conflict("The document is not fully indexed yet. Try again when it is.")
    count_run(principal)
    admit_run(document.workspace_id)
    chunks = _chunks(principal, document)
    contexts = [
        context_of_chunk(rank, chunk, document.name, 1.0) for rank, chunk in enumerate(chunks, start=1)
    ]
    give_connection_back()
    stream = _generate(principal, document, model, contexts)
    shown = [context for context in contexts if stream.was_shown(context.rank)]
    resolved = verify_with_deadline(stream.raw, shown, QUESTION, resident_calibration(), embed)
    written = _written(stream.spent.model, resolved, {each.pk: each for each in chunks}, contexts)
    usage = stream.usage
    with transaction.atomic():
        if len(written.abstract) + len(written.key_points) >= FEWEST:
            store_written_summary(principal, document, written)
        owner = principal.usage_owner
        count_usage(
            [
                UsageCount(
                    document.workspace_id,
                    owner,
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                )
            ]
        )
    if len(written.abstract) + len(written.key_points) < FEWEST:
        raise ProviderError("The model wrote no summary that the document supports. Try another model.")
    return written


def _chunks(principal: Principal, document: Document) -> list[Chunk]:
    """Return the chunks that a summary is written from, in reading order.

    They are the beginning, those that the extractive summary is taken from, and some in between.
    """
    live = live_chunks(principal, document)
    ids = list(live.exclude(modality=Modality.IMAGE).order_by("ordinal").values_list("pk", flat=True))
    chosen: dict[UUID, None] = dict.fromkeys(ids[:OPENING])
    extracted = summary_of(principal, document)
    if extracted is not None:
        chosen |= dict.fromkeys(each.chunk.pk for each in (*extracted.abstract, *extracted.key_points))
    step = max(len(ids) // MOST_CHUNKS, 1)
    chosen |= dict.fromkeys(ids[::step])
    return list(live.filter(pk__in=list(chosen)[:MOST_CHUNKS]).order_by("ordinal"))


def _generate(
    principal: Principal, document: Document, model: str, contexts: Sequence[ChunkContext]
) -> AnswerStream:
    """Return what the model has written, to its end."""
    generator = chosen_generator(model)
    payment = LedgerPayment(lambda: Payer.of(document.workspace_id, None, principal.usage_owner))
    stream = AnswerStream()

    async def read() -> None:
        async with asyncio.timeout(TIMEOUT_SECS):
            asked = GenerationRequest(QUESTION, contexts)
            async with aclosing(stream.partials(generator.answer(asked, payment))) as partials:
                async for _ in partials:
                    pass

    try:
        asyncio.run(read())
    except TimeoutError:
        raise Timeout("The model did not finish the summary in time. Try again later.") from None
    return stream


def _written(
    model: str, resolved: Resolved, chunks: dict[UUID, Chunk], contexts: Sequence[ChunkContext]
) -> WrittenSummary:
    """Return the statements of a response that have a place, those of its list as key points."""
    places: dict[tuple[int, int], list[PlacedSentence]] = {}
    by_rank = {each.rank: chunks[each.chunk_id] for each in contexts}
    for rank, quotes in resolved.quotes.items():
        for quote in quotes:
            if quote.chunk_start is not None and quote.chunk_end is not None:
                place = PlacedSentence(by_rank[rank], quote.chunk_start, quote.chunk_end)
                places.setdefault((quote.response_start, quote.response_end), []).append(place)
    abstract: list[WrittenStatement] = []
    key_points: list[WrittenStatement] = []
    for (start, end), found in sorted(places.items(), key=lambda item: item[0]):
        line = resolved.response[resolved.response.rfind("\n", 0, start) + 1 :]
        statement = WrittenStatement(_plain(resolved.response[start:end]), found)
        (key_points if _LIST_ITEM.match(line) else abstract).append(statement)
    return WrittenSummary(model, abstract, key_points)


def _plain(markdown: str) -> str:
    """Return a statement without its marks, in one line."""
    return " ".join(_MARKS.sub("", _CITATION.sub("", markdown)).split())
