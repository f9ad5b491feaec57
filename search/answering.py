"""Answers over documents and over the web: written from contexts, paid for, streamed, and checked.

contexts ─ crops, for models that can see ─ generate, marker by marker ─ resolve the citations
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.principal import Principal
from core.errors import ProviderError
from core.llm.payment import Payment
from core.threads import in_database
from kb.embedding import embedding_model
from kb.embedding.base import Vectors
from kb.embedding.calibration import Calibration, calibration_of
from runs.context import Run
from runs.events import PartialText, ToolPartialUpdate, Usage
from search.citations.gate import StatementGate
from search.citations.markers import MarkerStream
from search.citations.resolve import Resolved
from search.citations.support import Embed
from search.citations.verifying import judge_with_deadline, verify_with_deadline
from search.closest import closest_sentences, comparable_at_once
from search.contexts import ChunkContext, Context, Sentence
from search.crops import crops_of
from search.generation.base import (
    Corpus,
    FailedModel,
    GenerationRequest,
    GenerationUsage,
    Generator,
    TextStream,
)
from search.generation.extractive import nothing_found
from search.generation.registry import EXTRACTIVE, generator
from search.preferences import RagSettings
from search.timing import StageTimer

logger = logging.getLogger(__name__)
Partials = AsyncGenerator[ToolPartialUpdate, None]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """A finished answer: its citations resolved, and what it has taken."""

    resolved: Resolved
    model: str
    usage: Usage
    cost: float | None
    """What the model has cost, in US dollars; None if nobody knows."""
    seen: frozenset[int]
    """The ranks of the contexts that the model was also shown as they look."""
    failed_models: Sequence[FailedModel] = ()
    """Those in whose place the model has answered."""
    closest: Mapping[int, Sentence] = field(default_factory=dict)
    """Where nothing answers, the sentences that come nearest, by the ranks of their contexts."""


async def answer_from(
    contexts: Sequence[Context],
    question: str,
    *,
    principal: Principal,
    run: Run,
    wanted: RagSettings,
    clock: StageTimer,
    corpus: Corpus = Corpus.DOCUMENTS,
    payment: Payment | None = None,
    unseen_names: tuple[str, ...] = (),
) -> AsyncGenerator[ToolPartialUpdate | CitedAnswer, None]:
    """Yield an answer as it is written, and last the `CitedAnswer`; without contexts no model is asked.

    `payment` pays for the model; by default the ledger of the run's workspace.

    Raise what the generator raises, and `BudgetExceeded` where there is no money for it.
    """
    asked = GenerationRequest(
        question, contexts, wanted.reflection, corpus=corpus, style=run.style, unseen_names=unseen_names
    )
    if payment is None:
        payment = LedgerPayment(lambda: Payer.of(run.workspace_id, run.execution_id, principal.usage_owner))
    stream = AnswerStream()
    written = stream.partials(_generated(asked, principal, wanted, payment))
    verified = (
        _held(written, asked, clock) if run.holds_statements else _verified(written, stream, asked, clock)
    )
    async with aclosing(verified) as parts:
        async for part in parts:
            if isinstance(part, Resolved):
                spent = stream.spent
                closest = {} if part.quotes else await asyncio.to_thread(_closest, asked, spent.model)
                yield CitedAnswer(
                    part, spent.model, stream.usage, stream.cost, spent.seen, spent.failed, closest
                )
            else:
                yield part


def _closest(asked: GenerationRequest, model: str) -> Mapping[int, Sentence]:
    """Return the sentences of documents that come nearest to a question that nothing answers."""
    passages: Sequence[Context] = [each for each in asked.contexts if isinstance(each, ChunkContext)]
    if model != EXTRACTIVE:
        passages = comparable_at_once(asked.question, passages)
    return closest_sentences(asked.question, passages) if passages else {}


async def _verified(
    written: Partials, stream: AnswerStream, asked: GenerationRequest, clock: StageTimer
) -> AsyncGenerator[ToolPartialUpdate | Resolved, None]:
    """Yield the text as it is written, and last the checked response."""
    async with aclosing(written):
        async for partial in written:
            yield partial
    clock.mark("generation")
    shown = [context for context in asked.contexts if stream.was_shown(context.rank)]
    yield await asyncio.to_thread(
        verify_with_deadline, stream.raw, shown, asked.question, resident_calibration(), embed
    )
    clock.mark("verification")


async def _held(
    written: Partials, asked: GenerationRequest, clock: StageTimer
) -> AsyncGenerator[ToolPartialUpdate | Resolved, None]:
    """Yield each statement once its citations are checked, and last the response with the same ones.

    All contexts may support a statement: which ones a model was shown is known only at its end.
    """
    remembered = _remembering(embed)
    gate = StatementGate(
        lambda raw, skip: judge_with_deadline(
            raw, asked.contexts, asked.question, resident_calibration(), skip, remembered
        )
    )
    async with aclosing(written):
        async for partial in written:
            if gate.feed(partial.data.content):
                for text in await asyncio.to_thread(gate.release):
                    yield _event(text)
    clock.mark("generation")
    rest, resolved = await asyncio.to_thread(gate.finish)
    for text in rest:
        yield _event(text)
    clock.mark("verification")
    yield resolved


def _remembering(embed: Embed) -> Embed:
    """Return `embed` with a memory: each statement is compared with the same sentences."""
    known: dict[str, Any] = {}

    def remembered(texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in known))
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered


async def _generated(
    asked: GenerationRequest, principal: Principal, wanted: RagSettings, payment: Payment
) -> TextStream:
    chosen = await in_database(chosen_generator, wanted.generation_model, *wanted.fallback_models)
    if not asked.contexts:
        yield nothing_found(asked)
        yield GenerationUsage(chosen.name)
        return
    if wanted.multimodal and chosen.can_see:
        asked = replace(asked, crops=await crops_of(principal, asked.contexts))
    async with aclosing(chosen.answer(asked, payment)) as pieces:
        async for piece in pieces:
            yield piece


def chosen_generator(*names: str) -> Generator:
    """Return the generator of these names, in order; raise `ProviderError` if it can't be loaded."""
    try:
        return generator(*names)
    except ImproperlyConfigured as error:
        logger.exception("No generator can be loaded")
        raise ProviderError(
            "The language model can't be used as it is set up. An administrator sees why on the page "
            "“Connect a model”."
        ) from error


class AnswerStream:
    """What has been written so far, and what it has taken."""

    def __init__(self) -> None:
        self._markers = MarkerStream()
        self.spent = GenerationUsage("")

    @property
    def raw(self) -> str:
        """The text with its markers."""
        return self._markers.text.rstrip()

    @property
    def usage(self) -> Usage:
        """What the model has read and written."""
        return Usage(input_tokens=self.spent.input_tokens, output_tokens=self.spent.output_tokens)

    @property
    def cost(self) -> float | None:
        """What the model has cost, in US dollars; None if nobody knows."""
        return None if self.spent.cost is None else float(self.spent.cost)

    def was_shown(self, rank: int) -> bool:
        """Tell whether the model could cite a source."""
        return self.spent.read is None or rank in self.spent.read

    async def partials(self, pieces: TextStream) -> AsyncGenerator[ToolPartialUpdate, None]:
        """Yield the text as events while it comes."""
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, GenerationUsage):
                    self.spent = piece
                    continue
                for partial in self._markers.feed(piece):
                    yield _event(partial)
        for partial in self._markers.finish():
            yield _event(partial)


def embed(texts: Sequence[str]) -> Vectors:
    """Return unit vectors of sentences, to compare statements with."""
    return embedding_model().embed_documents(texts)


def resident_calibration() -> Calibration:
    """Return the constants of the model of `embed`."""
    return calibration_of(embedding_model().name)


def _event(partial: str) -> ToolPartialUpdate:
    return ToolPartialUpdate(data=PartialText(content=partial))
