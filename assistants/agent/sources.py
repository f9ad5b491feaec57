"""One numbering over the sources of all calls: what `<source_N>` means in the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from search.answering import CitedAnswer
from search.citations.resolve import Resolved
from search.contexts import ChunkContext, Context, PageContext
from search.events import ContextData
from search.rag import context_data
from search.web.events import RankedSource

_WORD = re.compile(r"\w++")
MOST_SOURCES = 60
"""More than any model is shown; what is found beyond is left out."""


class SourceBook:
    """The sources of one run, numbered as they are found; what is found again keeps its number."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        """By rank: 1..n."""
        self._worth: set[int] = set()
        self._worth_of_parts: set[int] = set()
        self._chunks: dict[UUID, int] = {}
        self._pages: dict[tuple[str, str], int] = {}
        self._shown: dict[int, RankedSource] = {}
        self._unseen: dict[str, None] = {}

    @property
    def next_rank(self) -> int:
        """The number that the next new source gets."""
        return len(self.contexts) + 1

    @property
    def worth_reading(self) -> list[Context]:
        """The sources that are about the question: what the answer is written from."""
        return [context for context in self.contexts if context.rank in self._worth]

    @property
    def ever_worth_reading(self) -> list[Context]:
        """The same of all parts of a deep question."""
        worth = self._worth | self._worth_of_parts
        return [context for context in self.contexts if context.rank in worth]

    def begin_part(self) -> None:
        """Begin a part of a question: only what is found for it is worth reading then."""
        self._worth_of_parts |= self._worth
        self._worth = set()

    def add_chunks(self, found: Iterable[ChunkContext], *, are_relevant: bool) -> list[ChunkContext]:
        """Number passages of documents, and return them with their numbers."""
        numbered = []
        for context in found:
            rank = self._chunks.get(context.chunk_id)
            if rank is None:
                if len(self.contexts) >= MOST_SOURCES:
                    continue
                rank = self._chunks[context.chunk_id] = self.next_rank
                self.contexts.append(replace(context, rank=rank))
            if are_relevant:
                self._worth.add(rank)
            numbered.append(replace(context, rank=rank))
        return numbered

    def add_pages(self, found: Iterable[tuple[RankedSource, PageContext]]) -> list[RankedSource]:
        """Number pages of the web, and return them with their numbers."""
        numbered = []
        for shown, context in found:
            rank = self._pages.get((context.url, context.text))
            if rank is None:
                if len(self.contexts) >= MOST_SOURCES:
                    continue
                rank = self._pages[context.url, context.text] = self.next_rank
                self.contexts.append(replace(context, rank=rank))
                self._shown[rank] = shown.model_copy(update={"rank": rank})
            self._worth.add(rank)
            numbered.append(self._shown[rank])
        return numbered

    def note_unseen(self, names: Iterable[str]) -> None:
        """Note names in a search that no document searched has (`search.unseen_names`)."""
        self._unseen |= dict.fromkeys(names)

    def unseen_names(self, question: str) -> tuple[str, ...]:
        """Return which of these names stand in a question; none beside pages, which may have them."""
        words = frozenset(_WORD.findall(question))
        return () if self._pages else tuple(name for name in self._unseen if name in words)

    def text_of(self, rank: int) -> str:
        """Return what is read of a source."""
        return self.contexts[rank - 1].text

    def contexts_shown(self, answer: CitedAnswer) -> list[ContextData]:
        """Return the passages of documents as the result shows them."""
        return [context_data(each, answer) for each in self.contexts if isinstance(each, ChunkContext)]

    def pages_shown(self, resolved: Resolved) -> list[RankedSource]:
        """Return the pages as the result shows them."""
        quotes = resolved.quotes
        return [
            shown.model_copy(
                update={
                    "used_in_response": rank in quotes,
                    "quote": quotes[rank][0].text if rank in quotes else None,
                }
            )
            for rank, shown in self._shown.items()
        ]

    def documents(self) -> Sequence[UUID]:
        """Return the documents among the sources."""
        chunks = (each for each in self.contexts if isinstance(each, ChunkContext))
        return list(dict.fromkeys(each.document_id for each in chunks))
