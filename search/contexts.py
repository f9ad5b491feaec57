"""Contexts: the passages that an answer is written from and cites, as values.

    a chunk that was found ────▶ ChunkContext ─┐
                                               ├─▶ generators, citations, text processes
    what is read of a web page ─▶ PageContext ─┘

Nothing behind this file knows a row of the database.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit
from uuid import UUID

from core.locations import LocatedText, PageBox
from core.text.fiscal import FiscalCalendar
from core.text.sentences import rejoined, sentence_bounds
from core.text.tables import header_of, is_table, table_start
from kb.pictures import Picture

if TYPE_CHECKING:
    from kb.models import Chunk


@dataclass(frozen=True)
class Sentence:
    """`start` and `end` are offsets into the context's text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Context(ABC):
    """A passage handed to the generator; `rank` counts from 1 and is what `<source_N>` names."""

    rank: int
    text: str
    document_name: str
    """What the document or the page is called."""
    score: float
    rerank_score: float | None = None
    answers: float | None = None
    """The probability that it answers the question, where the reranker gave one."""
    headings: tuple[str, ...] = ()
    """The heading path, outermost first."""
    sentence_bounds: tuple[tuple[int, int], ...] = ()
    """Start and end of each sentence in `text`; empty where none are known."""
    spans: tuple[Mapping[str, Any], ...] = ()
    """Where each word stands, as `LocatedText.dump` writes it."""
    language: str | None = None
    """ISO 639-1."""
    modality: str = "text"
    picture: Picture | None = None
    """The picture that the passage is of."""
    page_number: int | None = None
    start_time: float | None = None
    """Seconds, as `end_time`."""
    end_time: float | None = None
    is_decisive: bool = False
    """Whether it holds the rows that count of a table of which no other part needs to be looked at."""
    opening: str = ""
    """How its document begins, where the question asks for figures: who has issued it stands there."""
    ordinal: int = 0
    """Its place in the document's reading order."""
    introduction: str = ""
    """Of a table the text before it, where the question may be answered by its figures."""
    calendar: FiscalCalendar | None = None
    """When the fiscal years of its document end, where the question names one and that is known."""

    @property
    @abstractmethod
    def citation(self) -> str:
        """How a response cites it."""

    @cached_property
    def located(self) -> LocatedText:
        """The text with the place of each of its words."""
        return LocatedText.load(self.text, self.spans)

    @cached_property
    def boxes(self) -> list[PageBox]:
        """The picture if it is of one, then a box for each line (contract §3)."""
        boxes = self.located.boxes()
        return self.picture.boxes(boxes) if self.picture else boxes

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences, or the whole text if none are known."""
        bounds = self.sentence_bounds or ((0, len(self.text)),)
        return [Sentence(self.text[start:end], start, end) for start, end in bounds]

    @cached_property
    def header(self) -> Sentence | None:
        """Of a table the row that names its columns."""
        text = header_of(self.text) if is_table(self.text) else ""
        start = table_start(self.text)
        return Sentence(text, start, start + len(text)) if text else None

    def portable(self, *, with_places: bool = True) -> Self:
        """Return a copy that is quick to send to another process: without what was worked out from it."""
        return replace(self) if with_places else replace(self, spans=())


@dataclass(frozen=True, kw_only=True)
class ChunkContext(Context):
    """A chunk of a document."""

    chunk_id: UUID
    document_id: UUID
    workspace_id: UUID | None = None

    @property
    def citation(self) -> str:
        """By the id of the chunk (contract §5)."""
        return f'<citation id="{self.chunk_id}">[{self.rank}]</citation>'


@dataclass(frozen=True, kw_only=True)
class PageContext(Context):
    """What is read of a web page: in no database and without places."""

    url: str
    title: str

    @property
    def citation(self) -> str:
        """By address and title (contract §6)."""
        url, title = escape(self.url), escape(self.title)
        return f'<web_citation url="{url}" title="{title}">[{self.rank}]</web_citation>'


def context_of_chunk(
    rank: int,
    chunk: Chunk,
    document_name: str,
    score: float,
    rerank_score: float | None = None,
    *,
    answers: float | None = None,
    is_decisive: bool = False,
) -> ChunkContext:
    """Return a chunk that was found as a context."""
    return ChunkContext(
        rank=rank,
        text=chunk.text,
        document_name=document_name,
        score=score,
        rerank_score=rerank_score,
        answers=answers,
        headings=tuple(chunk.headings),
        sentence_bounds=tuple(_bounds(chunk)),
        spans=tuple(chunk.spans),
        language=chunk.language,
        modality=chunk.modality,
        picture=chunk.shown,
        page_number=chunk.page_number,
        start_time=chunk.start_time,
        end_time=chunk.end_time,
        is_decisive=is_decisive,
        ordinal=chunk.ordinal,
        chunk_id=chunk.pk,
        document_id=chunk.document_id,
        workspace_id=chunk.workspace_id,
    )


def _bounds(chunk: Chunk) -> Sequence[tuple[int, int]]:
    """Return the bounds of a chunk's sentences, of a table those of its rows."""
    bounds = [(start, end) for start, end in chunk.sentences]
    return bounds if is_table(chunk.text) else rejoined(chunk.text, bounds)


def context_of_page(
    rank: int, *, url: str, title: str, text: str, language: str | None, score: float | None
) -> PageContext:
    """Return what is read of a web page as a context."""
    return PageContext(
        rank=rank,
        text=text,
        document_name=f"{title} ({urlsplit(url).hostname})",
        score=score or 0.0,
        rerank_score=score,
        sentence_bounds=tuple(sentence_bounds(text, language)),
        language=language,
        url=url,
        title=title,
    )
