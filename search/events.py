"""What `rag_search` streams: its phases, contexts and result (contract §7)."""

from __future__ import annotations

import operator
from typing import Literal

from pydantic import Field

from core.locations import InFile, PageBox
from kb.representations import place_in_file
from runs.events import EventData, Usage


def _is_none(value: object) -> bool:
    return value is None


class BoxData(EventData):
    """One entry of a `bbox` list."""

    bbox: tuple[float, float, float, float]
    page_number: int
    layout_width: float
    layout_height: float

    @classmethod
    def of(cls, box: PageBox) -> BoxData:
        """Return the JSON form of a box."""
        return cls(**box.as_json())


class FilePlace(EventData):
    """A place in a file that has neither pages nor time, as a chunk's `metadata` tells it."""

    lines: tuple[int, int] | None = Field(
        None, exclude_if=operator.not_, description="first and last, from 1"
    )
    slides: list[int] | None = Field(None, exclude_if=operator.not_, description="from 1")
    sheet: str | None = Field(None, exclude_if=operator.not_)
    cells: str | None = Field(None, exclude_if=operator.not_, description="such as A1:C7")

    @classmethod
    def of(cls, places: list[InFile]) -> FilePlace | None:
        """Return the one place around all `places`, None without any."""
        return cls(**place_in_file(places)) if places else None


class Header(EventData):
    """The row of a table that names the columns of a quoted row, with its own place."""

    text: str
    bbox: list[BoxData] | None


class QuotedSentence(EventData):
    """A sentence of a chunk, with its own place."""

    text: str
    bbox: list[BoxData] | None
    start_time: float | None
    end_time: float | None
    chunk_start: int | None = Field(
        None, exclude_if=_is_none, description="code points into the chunk's text, as `chunk_end`"
    )
    chunk_end: int | None = Field(None, exclude_if=_is_none)
    machine_made: bool = Field(
        False, exclude_if=operator.not_, description="true where it is what a model has said of a picture"
    )
    place: FilePlace | None = Field(
        None, exclude_if=operator.not_, description="only in a file that has neither pages nor time"
    )
    header: Header | None = Field(
        None, exclude_if=operator.not_, description="only of a row of a table whose columns have names"
    )


class Quote(QuotedSentence):
    """The sentence that supports one statement of the response."""

    response_start: int = Field(description="code points into `response`")
    response_end: int


class ContextData(EventData):
    """A chunk handed to the generator (contract §5)."""

    rank: int
    chunk_id: str
    document_id: str
    document_name: str
    text_preview: str | None
    page_number: int | None
    bbox: list[BoxData] | None
    start_time: float | None
    end_time: float | None
    score: float
    rerank_score: float | None
    used_in_response: bool = False
    quotes: list[Quote] = []
    quote: str | None = None
    closest: QuotedSentence | None = Field(
        None,
        exclude_if=operator.not_,
        description="only where nothing answers, of the first contexts: the sentence that comes nearest",
    )
    picture: BoxData | None = Field(
        None, exclude_if=operator.not_, description="only of a picture chunk: where the picture stands"
    )
    machine_made: list[tuple[int, int]] = Field(
        [],
        exclude_if=operator.not_,
        description="start and end of what a model has written of the chunk's text, and so of the preview",
    )
    place: FilePlace | None = Field(
        None, exclude_if=operator.not_, description="only in a file that has neither pages nor time"
    )


class Phase(EventData):
    """A step of the pipeline."""

    leaves_nulls_out = True

    execution_id: str | None = None
    phase: Literal["SEARCH_PREPARATION", "RETRIEVAL", "RERANKING", "COMPILING_RESULTS"]
    status: Literal["started", "completed"]
    data: dict[str, int] | None = None


AnswerOutcome = Literal["answered", "closest", "nothing"]
"""Whether there is an answer. “closest”: what was found is about the question, but answers nothing."""


class Contexts(EventData):
    """The contexts, as soon as they are known, so that a client can show what `<source_N>` means."""

    contexts: list[ContextData]
    output_key: Literal["contexts"] = "contexts"


class RagResult(EventData):
    """The whole result of `rag_search`."""

    response: str
    contexts: list[ContextData]
    sources_used: list[int]
    model: str
    execution_id: str
    answered: bool
    outcome: AnswerOutcome
    citations_removed: int
    usage: Usage
    timings: dict[str, float] = Field(description="seconds by stage")


# --- What a reader is shown who no longer sees a document that the run has read (runs/withholding.py) ----


class WithheldContext(EventData):
    """A context of a document that the reader no longer sees."""

    rank: int
    document_id: str
    text_preview: None
    quote: None
    quotes: None
    bbox: None
    unavailable: Literal[True]


class WithheldResult(EventData):
    """A result of `rag_search` of which the reader no longer sees every document that was read for it."""

    response: None
    contexts: list[ContextData | WithheldContext]
    sources_used: list[int]
    model: str
    execution_id: str
    answered: bool
    outcome: AnswerOutcome
    citations_removed: int
    usage: Usage
    timings: dict[str, float]
    unavailable: Literal[True]


class WithheldText(EventData):
    """A piece of such a response."""

    content: None
    output_key: Literal["response"]
    unavailable: Literal[True]


class WithheldContexts(EventData):
    """Contexts, of which the reader no longer sees some."""

    contexts: list[ContextData | WithheldContext]
    output_key: Literal["contexts"]
