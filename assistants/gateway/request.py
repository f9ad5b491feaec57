"""What `POST /v1/responses` takes: what we understand of both clients' bodies. Other fields are ignored."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from accounts.access.identity import AskerFields
from accounts.principal import MAX_EXTERNAL_USER_ID, Principal
from assistants.gateway.conversation import conversation_of
from assistants.gateway.errors import UnsupportedParameter
from core.errors import ValidationError
from runs.context import WritingStyle

MOST_ITEMS = 2000
MOST_INSTRUCTIONS = 32_000
Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=16)
]
ModelName = Annotated[str, Field(min_length=1, max_length=200)]


def _as_list(value: object) -> object:
    return [] if value is None else value


class GatewayFields(BaseModel):
    """Whom a request speaks for, and where; our own fields, the same in every protocol of the gateway."""

    model_config = ConfigDict(extra="ignore")

    workspace_id: UUID | None = None
    session_id: UUID | None = None
    external_user_id: str | None = Field(None, min_length=1, max_length=MAX_EXTERNAL_USER_ID)

    def writing_style(self, instructions: str, param: str) -> WritingStyle:
        """Return what the request wants of the writing; raise `ValidationError` for too much of it."""
        if len(instructions) > MOST_INSTRUCTIONS:
            raise ValidationError(f"Instructions have at most {MOST_INSTRUCTIONS} characters.", param=param)
        temperature: float | None = getattr(self, "temperature", None)
        return WritingStyle(instructions, temperature, self.most_tokens())

    def most_tokens(self) -> int | None:
        """Return how much may be written; None where the request does not say."""
        return None

    def asker(self, principal: Principal) -> Principal:
        """Return the principal, with the external user and in the session that are given, or raise."""
        given = AskerFields(external_user_id=self.external_user_id, session_id=self.session_id)
        return given.asker(principal)

    def asker_json(self) -> dict[str, Any]:
        """Return those that are given, as tools take them."""
        return self.model_dump(
            mode="json", exclude_none=True, include={"workspace_id", "session_id", "external_user_id"}
        )


class ResponsesRequest(GatewayFields):
    """A body of `POST /v1/responses`."""

    input: str | Annotated[list[Any], Field(max_length=MOST_ITEMS)]
    model: ModelName | None = None
    models: Annotated[list[ModelName], Field(min_length=1, max_length=5)] | None = None
    preset: ModelName | None = None
    effort: ModelName | None = None
    instructions: str | list[Any] | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    max_steps: int | None = Field(None, ge=1, le=100)
    max_tool_calls: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    tools: Annotated[list[Any], Field(max_length=64), BeforeValidator(_as_list)] = []
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: Any = None
    text: Any = None
    previous_response_id: str | None = None
    store: bool | None = None
    background: bool | None = None
    stream: bool | None = Field(None, strict=True)
    metadata: Metadata | None = None

    def most_tokens(self) -> int | None:
        """Return `max_output_tokens`."""
        return self.max_output_tokens

    def instructions_with(self, messages: str) -> str:
        """Return the instructions, and those among the messages."""
        own = self.instructions
        if isinstance(own, list):
            own = conversation_of([*own, {"role": "user", "content": "?"}], "instructions").instructions
        return "\n\n".join(filter(None, (own, messages)))

    def require_supported(self) -> None:
        """Raise for what can't be kept: silence would promise it."""
        for name in ("previous_response_id", "store", "background"):
            if getattr(self, name):
                raise UnsupportedParameter(f"{name} is not supported here.", param=name)
        format = self.text.get("format") if isinstance(self.text, dict) else None
        require_plain_text(self.response_format, "response_format")
        require_plain_text(format, "text.format")

    def names_of_models(self) -> list[str]:
        """Return the models that are asked for, the first one first; none where a preset stands for one."""
        if self.models:
            return self.models
        if self.model is None and self.preset is None and self.effort is None:
            raise ValidationError("Name a model: “locus”, or another of GET /v1/models.", param="model")
        return [self.model] if self.model is not None else []


def require_plain_text(format: Any, param: str) -> None:
    """Raise `UnsupportedParameter` for an answer in JSON: statements with citations are text."""
    if isinstance(format, dict) and format.get("type", "text") != "text":
        raise UnsupportedParameter("Answers are text with citations, no JSON.", param=param)
