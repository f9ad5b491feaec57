"""Section `rag` of preferences and settings: how `rag_search` answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from accounts.preferences import Layer, Section, SettingSource, preferences_of, resolve, settings_of
from accounts.principal import Principal
from kb.pictures import MULTIMODAL, Multimodal
from search.generation.registry import choices
from search.rerank.registry import offered_rerankers

NAME = MULTIMODAL.section
MAX_CONTEXTS = 20


@dataclass(frozen=True, slots=True)
class RagSettings:
    """What counts for one question."""

    generation_model: str
    """One of `generation_models()`."""
    reranker: str
    """One of `offered_rerankers()`."""
    contexts: int
    """How many contexts the answer may use, 1 to 20."""
    reflection: bool
    multimodal: bool
    """Whether models that can see are shown the pictures among the contexts."""
    fallback_models: tuple[str, ...] = ()
    """Of `generation_models()`: asked in this order where the first fails; then come the deployment's."""


def rag_settings(
    principal: Principal,
    workspace_id: UUID,
    *,
    contexts: int | None = None,
    reflection: bool | None = None,
) -> RagSettings:
    """Return what counts for a question: what the request gives, or else what the layers below give.

    Raise `NotFound` if the principal does not see the workspace. An external user has no preferences:
    the workspace decides.
    """
    principal.require_workspace(workspace_id)
    layers = [
        Layer(SettingSource.REQUEST, {"contexts": contexts, "reflection": reflection}),
        Layer(SettingSource.USER, preferences_of(principal)[NAME]),
        Layer(SettingSource.WORKSPACE, settings_of(workspace_id)[NAME]),
    ]
    return RagSettings(**{field: setting.value for field, setting in resolve(NAME, layers).items()})


def generation_models() -> list[str]:
    """Return the models that answers may be asked of, as results name them: the deployment's first."""
    return list(dict.fromkeys(choice.name for choice in choices()))


def _choices() -> Mapping[str, Sequence[str]]:
    return {"generation_model": generation_models(), "reranker": offered_rerankers()}


def _deployment() -> Mapping[str, Any]:
    return {
        "generation_model": generation_models()[0],
        "reranker": settings.RERANKER,
        "contexts": settings.RAG_CONTEXTS,
        "reflection": settings.RAG_REFLECTION,
        MULTIMODAL.field: MULTIMODAL.deployment(),
    }


def _must_be_offered(field: str) -> AfterValidator:
    def check(value: str) -> str:
        names = _choices()[field]
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return value

    return AfterValidator(check)


class RagPreferences(BaseModel):
    """What users may prefer, and workspaces may set; null inherits."""

    model_config = ConfigDict(extra="forbid")

    generation_model: Annotated[str, _must_be_offered("generation_model")] | None = Field(
        None, description="Which of the deployment's models writes the answer."
    )
    reranker: Annotated[str, _must_be_offered("reranker")] | None = Field(
        None, description="Who reads the best candidates again: `auto`, `none`, or the deployment's own."
    )
    contexts: int | None = Field(
        None, ge=1, le=MAX_CONTEXTS, strict=True, description="How many contexts an answer may use."
    )
    reflection: bool | None = Field(
        None, strict=True, description="Whether an answer begins with what the model makes of the question."
    )


class RagWorkspaceSettings(RagPreferences):
    """What workspaces may set besides: what is made of their documents, for everybody."""

    multimodal: Multimodal = None


RAG = Section(
    NAME,
    RagPreferences,
    RagWorkspaceSettings,
    _deployment,
    _choices,
    template="search/rag_settings.html",
    labels={
        "generation_model": "Model that answers",
        "reranker": "Reranker",
        "contexts": "Contexts of an answer, at most",
        "reflection": "Reflection",
        MULTIMODAL.field: "Pictures in documents",
    },
)
