"""An answer as it is written, over documents and over the web: paid for, streamed, its markers whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from decimal import Decimal

from accounts.ledger.base import Order, Payer
from accounts.ledger.paying import paying
from accounts.models.ledger import Purpose
from core.errors import LocusError
from core.threads import in_database
from kb.embedding import embedding_model
from kb.embedding.base import Vectors
from runs.context import Run
from runs.events import PartialText, ToolPartialUpdate, Usage
from search.citations.markers import MarkerStream
from search.generation.base import GenerationRequest, GenerationUsage, Generator

TextStream = AsyncGenerator[str | GenerationUsage, None]
"""What generators yield."""


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


async def paid_answer(run: Run, chosen: Generator, asked: GenerationRequest) -> TextStream:
    """Yield what the generator does, its price reserved before and settled after.

    Raise `BudgetExceeded` where the workspace or the deployment has spent what it may.
    """
    if not chosen.likely_cost():
        async with aclosing(chosen.answer(asked)) as pieces:
            async for piece in pieces:
                yield piece
        return
    payer = await in_database(Payer.of, run.workspace_id, run.execution_id)
    has_begun = False
    async with paying(Order(payer, Purpose.MODEL, chosen.name, chosen.likely_cost())) as bill:
        try:
            async with aclosing(chosen.answer(asked)) as pieces:
                async for piece in pieces:
                    has_begun = True
                    if isinstance(piece, GenerationUsage):
                        bill.cost = piece.cost
                    yield piece
        except LocusError:
            # Nobody bills what was refused before its first word.
            bill.cost = bill.cost if has_begun else Decimal(0)
            raise


def embed(texts: Sequence[str]) -> Vectors:
    """Return unit vectors of sentences, to compare statements with."""
    return embedding_model().embed_documents(texts)


def _event(partial: str) -> ToolPartialUpdate:
    return ToolPartialUpdate(data=PartialText(content=partial))
