"""What the tool `agent` takes."""

from __future__ import annotations

import operator
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from accounts.principal import Principal
from assistants.agent.functions import (
    MOST_FUNCTIONS,
    MOST_RESULTS,
    CallerFunction,
    CallerSide,
    FunctionName,
    FunctionResult,
)
from assistants.answer import MOST_TURNS, DocumentOptions, EarlierTurn
from assistants.configuration.resolving import visible_assistant
from assistants.configuration.settings import DOCUMENT_TOOLS, WEB_TOOLS
from assistants.followups import Turn
from assistants.inputs import DEEP
from core.errors import NotFound, ValidationError
from search.inputs import QueryText
from search.web.inputs import WebOptions


class AgentInput(BaseModel):
    """A question to an assistant, or to the agent as it is without one."""

    model_config = ConfigDict(extra="forbid")

    query: QueryText = Field(description="The question, as specific as possible.")
    history: Annotated[list[EarlierTurn], Field(max_length=MOST_TURNS)] = Field(
        [], description="What was asked and answered before, oldest first."
    )
    assistant_id: UUID | None = Field(
        None, description="Which assistant answers; by default one with all tools and no instructions."
    )
    documents: DocumentOptions | None = Field(
        None, description="Read only these documents; without `web` nothing else is searched."
    )
    web: WebOptions | None = Field(
        None, description="Search only such pages; without `documents` nothing else is searched."
    )

    deep: bool = Field(False, strict=True, exclude_if=operator.not_, description=DEEP)
    functions: Annotated[list[CallerFunction], Field(max_length=MOST_FUNCTIONS)] = Field(
        [], description="Functions of the caller: where one is needed, the result asks for its call."
    )
    must_call: Annotated[list[FunctionName], Field(max_length=MOST_FUNCTIONS)] = Field(
        [], description="Names of `functions`: the result asks for a call of one of them, without an answer."
    )
    function_results: Annotated[list[FunctionResult], Field(max_length=MOST_RESULTS)] = Field(
        [], description="What calls of them gave that earlier results of this question asked for."
    )

    @model_validator(mode="after")
    def _check_functions(self) -> Self:
        self.caller().require_distinct([*DOCUMENT_TOOLS, *WEB_TOOLS])
        if self.deep and self.functions:
            raise ValidationError("A deep question calls no functions of the caller.", param="deep")
        return self

    def check_visible(self, principal: Principal) -> None:
        """Raise `NotFound` naming the first thing that the principal can't see."""
        if self.assistant_id is not None:
            visible_assistant(principal, self.assistant_id, "assistant_id")
        if self.documents:
            try:
                self.documents.check_visible(principal)
            except NotFound as error:
                raise NotFound(error.message, param=f"documents.{error.param}") from None

    def caller(self) -> CallerSide:
        """Return what the caller offers and has given."""
        return CallerSide(self.functions, self.function_results, self.must_call)

    def turns(self) -> list[Turn]:
        """Return what was said before, as follow-ups are made self-contained from it."""
        return [Turn(each.question, each.question, each.answer) for each in self.history]
