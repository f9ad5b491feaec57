"""The shapes of an assistant's settings, and how those of a binding replace them.

A binding's setting that is null inherits the assistant's; any other value replaces it whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from assistants.search_scope import SearchScope
from core.api.validation import ApiModel
from core.text.storable import is_storable
from search.preferences import generation_models
from search.web.inputs import MOST_DOMAINS, Country, Domain, Language, SignedDomain
from search.web.providers.registry import offered_names

AgentToolName = Literal["rag_search", "list_documents", "read_document", "web_search", "web_fetch"]
DOCUMENT_TOOLS: tuple[AgentToolName, ...] = ("rag_search", "list_documents", "read_document")
WEB_TOOLS: tuple[AgentToolName, ...] = ("web_search", "web_fetch")
MOST_INSTRUCTIONS = 8000
MOST_STEPS, MOST_SECONDS = 20, 300


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("must not hold characters that can't be stored")
    return text


def _model(name: str) -> str:
    names = generation_models()
    if name not in names:
        raise ValueError(f"must be one of {', '.join(names)}")
    return name


def _provider(name: str) -> str:
    names = offered_names()
    if name not in names:
        raise ValueError(f"must be one of {', '.join(names)}")
    return name


Text = Annotated[str, AfterValidator(_storable)]
ModelName = Annotated[str, Field(max_length=200), AfterValidator(_model)]
Starter = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(_storable)
]


class AssistantWeb(ApiModel):
    """How an assistant goes to the web; what is null is as the workspace has it."""

    enabled: bool = Field(True, strict=True, description="False keeps it away from the web.")
    provider: Annotated[str, AfterValidator(_provider)] | None = None
    count: int | None = Field(None, ge=1, le=20, strict=True, description="How many results to look at.")
    expand: bool | None = Field(None, strict=True, description="Whether to fetch the text of the top three.")
    whitelisted_domains: list[Domain] | None = Field(
        None, min_length=1, max_length=MOST_DOMAINS, description="Only pages of these."
    )
    search_domain_filter: list[SignedDomain] | None = Field(
        None,
        min_length=1,
        max_length=MOST_DOMAINS,
        description="Only pages of these domains, or, each with a leading `-`, none of these.",
    )
    country: Country | None = None
    language: Language | None = None

    @field_validator("search_domain_filter")
    @classmethod
    def _one_kind_of_list(cls, entries: list[str] | None) -> list[str] | None:
        if len({entry.startswith("-") for entry in entries or ()}) > 1:
            raise ValueError("all entries allow, or all begin with - and deny")
        return entries

    def options(self) -> dict[str, Any]:
        """Return the inputs of `web_search` that are fixed by these settings."""
        return self.model_dump(mode="json", exclude_none=True, exclude={"enabled"})


class AnswerStyle(ApiModel):
    """How answers are written, where a chat model writes them."""

    temperature: float | None = Field(None, ge=0, le=2, allow_inf_nan=False)
    max_output_tokens: int | None = Field(None, ge=1, le=100_000, strict=True)
    reflection: bool | None = Field(
        None, strict=True, description="Whether answers begin with what the model makes of the question."
    )


class AgentLimits(ApiModel):
    """How far the agent may go for one question."""

    max_steps: int = Field(6, ge=1, le=MOST_STEPS, strict=True, description="Calls of tools.")
    max_seconds: int = Field(
        60, ge=1, le=MOST_SECONDS, strict=True, description="For the calls; the answer is written afterwards."
    )
    max_cost: float | None = Field(
        None,
        ge=0,
        le=1000,
        allow_inf_nan=False,
        description="US dollars for searches and models; null is the workspace's limit alone.",
    )


class AssistantSettings(ApiModel):
    """What an assistant is set to."""

    instructions: Text = Field("", max_length=MOST_INSTRUCTIONS, description="About tone, form and language.")
    model: ModelName | None = Field(None, description="Which model answers; null is the workspace's.")
    fallbacks: list[ModelName] = Field(
        [],
        max_length=5,
        description="Asked in this order where `model` is not offered, or fails before its first word.",
    )
    tools: list[AgentToolName] = Field(
        list(DOCUMENT_TOOLS), min_length=1, max_length=5, description="What the agent may call."
    )
    scope: SearchScope = Field(
        default_factory=SearchScope, description="Which documents it reads, of those that who asks may read."
    )
    web: AssistantWeb = Field(default_factory=AssistantWeb)
    style: AnswerStyle = Field(default_factory=AnswerStyle)
    limits: AgentLimits = Field(default_factory=AgentLimits)
    starters: list[Starter] = Field([], max_length=6, description="Questions to begin with.")

    @field_validator("tools")
    @classmethod
    def _each_once(cls, tools: list[AgentToolName]) -> list[AgentToolName]:
        return list(dict.fromkeys(tools))

    def as_stored(self) -> dict[str, Any]:
        """Return what a version stores."""
        return self.model_dump(mode="json")


class BindingOverrides(ApiModel):
    """What a binding sets by itself; null inherits from the assistant, an object replaces."""

    instructions: Text | None = Field(None, max_length=MOST_INSTRUCTIONS)
    model: ModelName | None = None
    fallbacks: list[ModelName] | None = Field(None, max_length=5)
    tools: list[AgentToolName] | None = Field(None, min_length=1, max_length=5)
    scope: SearchScope | None = None
    web: AssistantWeb | None = None
    style: AnswerStyle | None = None
    limits: AgentLimits | None = None
    starters: list[Starter] | None = Field(None, max_length=6)

    def as_stored(self) -> dict[str, Any]:
        """Return what a binding stores: what it sets."""
        return self.model_dump(mode="json", exclude_none=True)


BINDING_SETTINGS = frozenset(BindingOverrides.model_fields)


class _ModelNames(ApiModel):
    model: Annotated[Text, Field(max_length=200)] | None = None
    fallbacks: list[Annotated[Text, Field(max_length=200)]] = Field([], max_length=5)


def model_names_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the models that stored settings name, offered or not; raise `ValidationError` of pydantic."""
    given = {name: stored[name] for name in _ModelNames.model_fields if name in stored}
    return _ModelNames.model_validate(given).model_dump()


def missing_models(stored: Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> list[str]:
    """Return the models of stored settings that the deployment no longer offers."""
    values, offered = {**stored, **(overrides or {})}, generation_models()
    named = (values.get("model"), *values.get("fallbacks", ()))
    return [name for name in named if name is not None and name not in offered]


def read_settings(stored: Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> AssistantSettings:
    """Return stored settings, with those of a binding in place of the assistant's.

    In place of a model that the deployment no longer offers counts the first fallback that it does, or none;
    a provider that it no longer offers counts as none. They were valid when they were stored.
    """
    values = {**stored, **(overrides or {})}
    offered, model = generation_models(), values.get("model")
    fallbacks = [name for name in values.get("fallbacks", ()) if name in offered]
    # Null is the workspace's model, and stays before its fallbacks.
    if model is not None and model not in offered:
        model = fallbacks.pop(0) if fallbacks else None
    values |= {"model": model, "fallbacks": fallbacks}
    web = dict(values.get("web") or {})
    if web.get("provider") not in (None, *offered_names()):
        web["provider"] = None
    found = AssistantSettings.model_validate(values | {"web": web})
    # Once more, with the defaults: replies show every setting.
    return AssistantSettings.model_validate(found.model_dump())
