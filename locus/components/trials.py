"""A test of each kind of component: one real call, as small as it can be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from django.conf import settings

from accounts.ledger.base import Payer
from core.last_errors import last_errors
from core.llm.payment import ActualCost, Payment
from extract.base import Element
from extract.sandbox.parent import SandboxLimits, extract
from ingestion.captioning.registry import captioner
from kb.embedding import embedding_model
from locus.components.base import TrialFailed, TrialResult
from search.contexts import PageContext
from search.generation.base import Choice, GenerationRequest, GenerationUsage, Generator
from search.generation.registry import resident
from search.rerank.registry import reranker
from search.web.base import Provider, WebQuery
from search.web.prices import cost_of
from search.web.provider_call import call_provider

SAMPLES = Path(__file__).parent / "samples"
QUESTION = "When was the lighthouse built?"
PASSAGE = "The lighthouse was built in 1871. It is forty metres high."
WRITTEN, SPOKEN = "Locus reads this line", "weeks"
"""Words that the samples hold."""
LONGEST_SECS = 60.0
SANDBOX = SandboxLimits(60, settings.EXTRACTION_MEMORY_BYTES, 10, 60)


class MeteredPayment:
    """Pays as another payment does, and adds up what was paid."""

    def __init__(self, payment: Payment) -> None:
        self._payment = payment
        self.cost: Decimal | None = Decimal(0)

    @asynccontextmanager
    async def reserve(self, model: str, estimate: Decimal) -> AsyncIterator[ActualCost]:
        """Reserve the estimate, and add the cost that the block stores; None if it stores none."""
        async with self._payment.reserve(model, estimate) as bill:
            try:
                yield bill
            finally:
                if estimate and bill.cost is None:
                    self.cost = None
                elif self.cost is not None:
                    self.cost += bill.cost or 0


def try_embedding(payment: Payment) -> TrialResult:
    """Embed a question."""
    vector = embedding_model().embed_query(QUESTION)
    return TrialResult(f"It returned a vector of {len(vector)} dimensions.")


def try_reranker(payment: Payment) -> TrialResult:
    """Score two passages: the one that answers must come first."""
    chosen = reranker()
    if chosen is None:
        raise TrialFailed("There is no reranker.")
    metered = MeteredPayment(payment)
    passages = ["The harbour has three piers.", PASSAGE]
    worse, better = chosen.score(QUESTION, passages, within=LONGEST_SECS, payment=metered)
    if not better > worse:
        raise TrialFailed(f"It scored a passage that answers {better:.2f}, and another one {worse:.2f}.")
    return TrialResult("It put the passage that answers first.", metered.cost)


def try_generator(
    choice: Choice, payment: Payment, get: Callable[[Choice], Generator] = resident
) -> TrialResult:
    """Ask for an answer from one passage; `get` returns the generator of a choice."""
    text, usage = asyncio.run(_answer(get(choice), payment))
    if not text.strip():
        raise TrialFailed("It answered nothing.")
    words = f"It answered “{_shortened(text)}”."
    if usage and usage.input_tokens:
        words += f" It read {usage.input_tokens:,} tokens and wrote {usage.output_tokens:,}."
    return TrialResult(words, usage.cost if usage else None)


async def _answer(generator: Generator, payment: Payment) -> tuple[str, GenerationUsage | None]:
    context = PageContext(
        rank=1, text=PASSAGE, document_name="A test", score=1.0, url="https://example.org/", title="A test"
    )
    text, usage = "", None
    async with asyncio.timeout(LONGEST_SECS):
        stream = generator.answer(GenerationRequest(QUESTION, [context]), payment)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if isinstance(piece, GenerationUsage):
                    usage = piece
                else:
                    text += piece
    return text, usage


def try_captioner(payment: Payment) -> TrialResult:
    """Ask for a description of a small picture."""
    chosen = captioner()
    if chosen is None:
        raise TrialFailed("Nobody describes pictures.")
    metered = MeteredPayment(payment)
    text = chosen.description((SAMPLES / "line.png").read_bytes(), "en", metered)
    if text is None:
        # It has logged the reason, and raises none.
        name = f"{settings.VISION_PROVIDER}:{chosen.name}"
        known = last_errors([name]).get(name)
        raise TrialFailed(known.message if known else "It failed. The server's log says why.")
    return TrialResult(f"It described the picture as “{_shortened(text)}”.", metered.cost)


def try_ocr(payment: Payment) -> TrialResult:
    """Read a picture of one line, in the sandbox where files are read."""
    found = _read("line.png")
    if WRITTEN.lower() not in found.lower():
        raise TrialFailed(f"It read “{found}” where the picture says “{WRITTEN}”.")
    return TrialResult(f"It read “{found}”, as the picture says.")


def try_speech(payment: Payment) -> TrialResult:
    """Listen to four seconds of speech, in the sandbox where files are read."""
    found = _read("speech.opus")
    if SPOKEN not in found.lower():
        raise TrialFailed(
            f"It heard “{found}” where “The supply boat did not come for eleven weeks” is said."
        )
    return TrialResult(f"It heard “{found}”")


def try_engine(engine: Provider, workspace_id: UUID) -> TrialResult:
    """Search for one page; raise `ProviderFailed` if there is no answer."""
    query = WebQuery("lighthouse", count=1)
    found = asyncio.run(call_provider(engine, query, Payer.of(workspace_id)))
    if not found.hits:
        raise TrialFailed("It found nothing for “lighthouse”.")
    return TrialResult(f"It found “{_shortened(found.hits[0].title)}”.", cost_of(engine, found))


def _read(name: str) -> str:
    findings = extract(SAMPLES / name, SANDBOX, deep=True, speech_model=settings.SPEECH_MODEL)
    return " ".join(found.text for found in findings if isinstance(found, Element)).strip()


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:120]}…"
