"""`answer`: a question becomes one answer from documents, the web, or both, without a stored conversation.

What was said before may come with the question.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import aclosing
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from accounts.principal import Principal
from assistants.answering import Answered, answer_request, rewriter_for
from assistants.called_tools import AnswerRequest
from assistants.events import AnswerResult, ChatPhase
from assistants.followups import Turn, self_contained
from core.errors import NotFound, ValidationError
from core.threads import in_database
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Yielded
from search.inputs import DocumentScope, QueryText, searched_workspaces
from search.preferences import MAX_CONTEXTS, rag_settings
from search.timing import StageTimer
from search.web.inputs import WebOptions
from search.web.searching import admit as admit_web_search

MOST_TURNS = 20
MOST_ANSWER_CHARS = 20_000


class EarlierTurn(BaseModel):
    """A question that was asked before, and its answer."""

    model_config = ConfigDict(extra="forbid")

    question: QueryText
    answer: str = Field("", max_length=MOST_ANSWER_CHARS)


class DocumentOptions(DocumentScope):
    """How documents are searched."""

    limit: int | None = Field(
        None, ge=1, le=MAX_CONTEXTS, strict=True, description="How many contexts the answer may use."
    )
    reflection: bool | None = Field(
        None, strict=True, description="Whether the answer begins with what is made of the question."
    )


class AnswerInput(BaseModel):
    """What `answer` takes: documents are searched where `documents` is given, the web where `web` is."""

    model_config = ConfigDict(extra="forbid")

    query: QueryText = Field(description="The question, as specific as possible.")
    history: Annotated[list[EarlierTurn], Field(max_length=MOST_TURNS)] = Field(
        [], description="What was asked and answered before, oldest first."
    )
    documents: DocumentOptions | None = Field(None, description="Search documents; `{}` is all you may read.")
    web: WebOptions | None = Field(None, description="Search the web; `{}` as the workspace has it set.")

    @model_validator(mode="after")
    def _something_to_search(self) -> AnswerInput:
        if self.documents is None and self.web is None:
            raise ValidationError("Give documents, web, or both: {} is enough.", param="documents")
        return self

    def check_visible(self, principal: Principal) -> None:
        """Raise `NotFound` naming the first thing that the principal can't see."""
        if self.documents:
            try:
                self.documents.check_visible(principal)
            except NotFound as error:
                raise NotFound(error.message, param=f"documents.{error.param}") from None

    def turns(self) -> list[Turn]:
        """Return what was said before, as follow-ups are made self-contained from it."""
        return [Turn(each.question, each.question, each.answer) for each in self.history]


def searched_for_answer(principal: Principal, inputs: AnswerInput) -> Collection[UUID]:
    """Return the workspaces whose documents are searched."""
    return searched_workspaces(principal, inputs.documents) if inputs.documents else set()


def admit_answer(principal: Principal, inputs: AnswerInput, workspace_id: UUID) -> None:
    """Refuse the web where it is switched off, and where there is no money for it."""
    if inputs.web is not None:
        admit_web_search(principal, inputs.web.search(inputs.query), workspace_id)


async def answer(principal: Principal, inputs: AnswerInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of an answer: the question as it is asked, the tools' events, the text, its result."""
    clock = StageTimer()
    yield ToolUpdate(data=ChatPhase(execution_id=run.execution_id, phase="PREPARATION", status="started"))
    asked = await _ask(principal, inputs, run)
    clock.mark("follow_up")
    async with aclosing(answer_request(asked, clock)) as steps:
        async for step in steps:
            if isinstance(step, Answered):
                answered = step
            else:
                yield step
    yield answered.trace()
    yield ToolEnd(data=AnswerResult(**answered.fields()))


async def _ask(principal: Principal, inputs: AnswerInput, run: Run) -> AnswerRequest:
    options = inputs.documents or DocumentOptions()
    wanted = await in_database(
        rag_settings, principal, run.workspace_id, contexts=options.limit, reflection=options.reflection
    )
    rewriter = await in_database(rewriter_for, principal, run, wanted) if inputs.history else None
    question = await self_contained(inputs.query, inputs.turns(), rewriter=rewriter)
    documents = inputs.documents.question_about(question.question) if inputs.documents else None
    web = inputs.web.search(question.question) if inputs.web else None
    return AnswerRequest(principal, run, question, wanted, documents, web)
