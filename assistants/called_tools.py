"""What an answer is searched in: documents, then the web; one numbering over both.

If one of the two tools fails, the other still answers.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from uuid import UUID

from accounts.principal import Principal
from assistants.events import CALLED, CallFailed, ToolCallOfChat
from assistants.followups import SelfContained
from core.errors import LocusError
from runs.context import Run
from runs.events import DocumentsRead, ToolUpdate
from search.contexts import ChunkContext, Context
from search.generation.base import Corpus
from search.preferences import RagSettings
from search.questions import Question
from search.rag import RetrievedContexts, retrieve_contexts
from search.timing import StageTimer
from search.web.inputs import WebSearchInput
from search.web.pipeline import FoundHits, KeptSources, find_hits, keep_sources


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A self-contained question, and all that it is answered with: documents, the web, or both."""

    principal: Principal
    run: Run
    question: SelfContained
    wanted: RagSettings
    documents: Question | None
    """The question as it is searched in documents; None where these are not searched."""
    web: WebSearchInput | None
    """The same of the web."""
    carried_from: Sequence[UUID] = ()
    """The documents whose words the question may repeat: those that earlier answers have read."""

    @property
    def calls(self) -> list[ToolCallOfChat]:
        """The tools to call, documents first."""
        tools = {"rag_search": self.documents, "web_search": self.web}
        return [
            ToolCallOfChat.model_validate({"tool": tool, "call_id": f"{self.run.execution_id}.{number}"})
            for number, tool in enumerate((tool for tool, asked in tools.items() if asked), start=1)
        ]

    @property
    def corpus(self) -> Corpus:
        """What the answer is written from."""
        if not self.web:
            return Corpus.DOCUMENTS
        return Corpus.DOCUMENTS_AND_WEB if self.documents else Corpus.WEB


@dataclass(frozen=True, slots=True)
class FoundPages:
    """What a search of the web has found: the last item of `_search_web`."""

    inputs: WebSearchInput
    hits: FoundHits
    kept: KeptSources


@dataclass(frozen=True, slots=True)
class FoundSources:
    """What the called tools have found, documents first: the last item of `find_sources`."""

    documents: RetrievedContexts | None = None
    pages: FoundPages | None = None

    @property
    def contexts(self) -> Sequence[ChunkContext]:
        """The contexts of documents: ranks 1..n."""
        return self.documents.contexts if self.documents else []

    @property
    def first_page_rank(self) -> int:
        """The rank of the first page of the web."""
        return len(self.contexts) + 1

    @property
    def worth_reading(self) -> list[Context]:
        """What an answer is written from."""
        documents = self.documents.worth_reading if self.documents else []
        return [*documents, *(self.pages.kept.contexts if self.pages else ())]

    @property
    def unseen_names(self) -> tuple[str, ...]:
        """Names in the question that no document searched has; pages of the web may have them."""
        return self.documents.unseen_names if self.documents and not self.pages else ()

    @property
    def spelling(self) -> Mapping[str, str]:
        """The misspelt words of the question, each with what is meant; what a page of the web has is none."""
        pages = " ".join(each.text for each in self.pages.kept.contexts).casefold() if self.pages else ""
        spelling = self.documents.spelling if self.documents else {}
        return {word: meant for word, meant in spelling.items() if word.casefold() not in pages}


Event = ToolUpdate | DocumentsRead
Step = Event | RetrievedContexts | FoundPages


async def find_sources(asked: AnswerRequest, clock: StageTimer) -> AsyncGenerator[Event | FoundSources, None]:
    """Call the tools one after the other; yield their events, and last the `FoundSources`."""
    found = FoundSources()
    for call in asked.calls:
        if call.tool == "rag_search":
            search = _search_documents(asked, clock)
        else:
            search = _search_web(asked, clock, found.first_page_rank)
        async with aclosing(_with_failure(search, call, alone=len(asked.calls) == 1)) as steps:
            async for step in steps:
                match step:
                    case RetrievedContexts():
                        found = replace(found, documents=step)
                    case FoundPages():
                        found = replace(found, pages=step)
                    case ToolUpdate():
                        yield _of_call(step, call)
                    case _:
                        yield step
    yield found


async def _search_documents(asked: AnswerRequest, clock: StageTimer) -> AsyncGenerator[Step, None]:
    assert asked.documents is not None
    retrieval = retrieve_contexts(asked.principal, asked.documents, asked.run, asked.wanted, clock)
    async with aclosing(retrieval) as steps:
        async for step in steps:
            if isinstance(step, DocumentsRead):
                step = DocumentsRead(documents=[*dict.fromkeys([*step.documents, *asked.carried_from])])
            yield step


async def _search_web(
    asked: AnswerRequest, clock: StageTimer, first_rank: int
) -> AsyncGenerator[ToolUpdate | FoundPages, None]:
    assert asked.web is not None
    async with aclosing(find_hits(asked.principal, asked.web, asked.run, clock)) as steps:
        async for step in steps:
            if isinstance(step, FoundHits):
                hits = step
            else:
                yield step
    async with aclosing(keep_sources(hits, asked.wanted, clock, first_rank=first_rank)) as kept:
        async for each in kept:
            yield FoundPages(asked.web, hits, each) if isinstance(each, KeptSources) else each


async def _with_failure(
    steps: AsyncGenerator[Step, None], call: ToolCallOfChat, *, alone: bool
) -> AsyncGenerator[Step, None]:
    """Yield a tool's steps; if it fails, say so in an event, unless no other tool can answer."""
    try:
        async with aclosing(steps):
            async for step in steps:
                yield step
    except LocusError as error:
        if alone:
            raise
        yield ToolUpdate(data=CallFailed(**call.model_dump(), code=error.code, message=error.message))


def _of_call(event: ToolUpdate, call: ToolCallOfChat) -> ToolUpdate:
    """Return a tool's event with the call that it belongs to."""
    if isinstance(event.data, CallFailed):
        return event
    data = {name: getattr(event.data, name) for name in type(event.data).model_fields}
    return ToolUpdate(data=CALLED[type(event.data)].model_validate(data | call.model_dump()))
