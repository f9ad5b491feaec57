"""Which assistant a run answers as, and what that comes to: tools, documents, the web, limits, costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from uuid import UUID

from django.conf import settings as deployment

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.principal import Principal
from assistants.agent.foreign import foreign_tools
from assistants.agent.limits import CappedPayment
from assistants.agent.outcome import AgentTool
from assistants.agent.planners import planning_models
from assistants.agent.request import AgentRequest
from assistants.configuration.resolving import ConfiguredAssistant
from assistants.configuration.settings import (
    DOCUMENT_TOOLS,
    WEB_TOOLS,
    AgentToolName,
    AssistantSettings,
)
from assistants.events import AnsweringAssistant
from assistants.followups import Rewriter, SelfContained
from assistants.followups.rewriting import model_rewriter
from assistants.scope import EVERYTHING, both_scopes, stored_scope, workspaces_in
from core.errors import Conflict, ToolDisabled
from core.llm.payment import Payment
from runs.context import Run, WritingStyle
from search.preferences import RagSettings, rag_settings
from search.questions import Question
from search.rerank.registry import NONE, reranker
from search.web.inputs import WebOptions
from search.web.preferences import are_web_tools_offered, is_enabled


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a request or a conversation allows of what its assistant may use."""

    documents: Question | None = EVERYTHING
    """None keeps the agent away from documents."""
    web: WebOptions | None = field(default_factory=WebOptions)
    """None keeps it away from the web."""
    contexts: int | None = None
    reflection: bool | None = None


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What a run of the agent answers with, once the assistant and the request are read."""

    principal: Principal
    run: Run
    settings: AssistantSettings
    wanted: RagSettings
    tools: Sequence[AgentToolName]
    scope: Question
    web: WebOptions
    payment: CappedPayment
    assistant: AnsweringAssistant | None
    foreign_tools: Sequence[AgentTool] = ()
    missing_models: Sequence[str] = ()

    def rewriter(self) -> Rewriter | None:
        """Return what makes follow-ups self-contained by a model; it may ask the database."""
        return model_rewriter(self.payment, self.wanted.generation_model)

    def request(self, question: SelfContained, typed: str, carried_from: Sequence[UUID] = ()) -> AgentRequest:
        """Return the request for a self-contained question."""
        return AgentRequest(
            self.principal,
            self.run,
            question,
            typed,
            self.run.style.instructions,
            self.wanted,
            self.tools,
            self.scope,
            self.web,
            self.settings.limits,
            self.payment,
            self.assistant,
            carried_from,
            self.foreign_tools,
            missing_models=self.missing_models,
        )


def default_settings() -> AssistantSettings:
    """Return the settings of the agent without an assistant: all tools that the deployment has."""
    web = WEB_TOOLS if are_web_tools_offered() else ()
    return AssistantSettings(tools=[*DOCUMENT_TOOLS, *web])


def set_up(
    principal: Principal, run: Run, found: ConfiguredAssistant | None, narrowing: Narrowing
) -> AgentSetup:
    """Return what a run may use: what the assistant has, within what the request and its workspace allow."""
    settings = found.settings if found else default_settings()
    wanted = rag_settings(
        principal,
        run.workspace_id,
        contexts=narrowing.contexts,
        reflection=settings.style.reflection if narrowing.reflection is None else narrowing.reflection,
    )
    wanted = replace(
        wanted,
        generation_model=settings.model or wanted.generation_model,
        fallback_models=tuple(settings.fallbacks),
    )
    cap = None if settings.limits.max_cost is None else Decimal(str(settings.limits.max_cost))
    if cap is not None and (ranker := reranker(wanted.reranker)) and ranker.is_paid:
        # It pays by itself, without a look at the cap.
        wanted = replace(wanted, reranker=NONE)
    run = replace(run, style=merged_style(settings, run.style))
    return AgentSetup(
        principal,
        run,
        settings,
        wanted,
        allowed_tools(principal, settings, narrowing, run.workspace_id),
        scope_within(principal, settings, narrowing),
        _web_options(settings, narrowing.web),
        _payment(principal, run, wanted, cap),
        None
        if found is None
        else AnsweringAssistant(
            id=found.id, name=found.name, version=found.version, binding_id=found.binding_id
        ),
        # Who wants documents alone wants nothing that leaves for elsewhere.
        foreign_tools(found) if found and narrowing.web is not None else (),
        found.missing_models if found else (),
    )


def allowed_tools(
    principal: Principal, settings: AssistantSettings, narrowing: Narrowing, workspace_id: UUID
) -> list[AgentToolName]:
    """Return the tools that a run may call."""
    has_web = (
        narrowing.web is not None
        and settings.web.enabled
        and are_web_tools_offered()
        and is_enabled(principal, workspace_id)
    )
    return [
        tool for tool in settings.tools if (has_web if tool in WEB_TOOLS else narrowing.documents is not None)
    ]


def require_tools(
    principal: Principal, settings: AssistantSettings, narrowing: Narrowing, workspace_id: UUID
) -> None:
    """Raise `ToolDisabled` where nothing is left to answer from."""
    if not allowed_tools(principal, settings, narrowing, workspace_id):
        raise ToolDisabled("There is nothing that this assistant may search here.")


def scope_within(principal: Principal, settings: AssistantSettings, narrowing: Narrowing) -> Question:
    """Return the documents of an assistant within those of a request or conversation."""
    own = stored_scope(settings.scope.as_column())
    return own if narrowing.documents is None else both_scopes(principal, own, narrowing.documents)


def searched_workspaces(principal: Principal, settings: AssistantSettings, narrowing: Narrowing) -> set[UUID]:
    """Return the workspaces whose documents a run may search."""
    if narrowing.documents is None or not set(settings.tools) & set(DOCUMENT_TOOLS):
        return set()
    return workspaces_in(principal, scope_within(principal, settings, narrowing))


def merged_style(settings: AssistantSettings, asked: WritingStyle) -> WritingStyle:
    """Return the style of an assistant and of a request: instructions one after the other, the lower cap."""
    caps = [cap for cap in (settings.style.max_output_tokens, asked.max_tokens) if cap is not None]
    own = settings.style.temperature
    return WritingStyle(
        "\n\n".join(filter(None, (settings.instructions.strip(), asked.instructions.strip()))),
        own if asked.temperature is None else asked.temperature,
        min(caps, default=None),
    )


def _web_options(settings: AssistantSettings, asked: WebOptions | None) -> WebOptions:
    """Return a request's options with the assistant's in their place; raise `Conflict` for two lists.

    What the assistant sets can't be widened: its lists of domains stay.
    """
    own = settings.web.options()
    given = asked.model_dump(mode="json", exclude_none=True) if asked else {}
    inner = given.get("filters") or {}
    for name in ("whitelisted_domains", "search_domain_filter"):
        if name in own and (name in given or name in inner):
            raise Conflict("This assistant has a list of domains of its own.", param=name)
    given["filters"] = {name: value for name, value in inner.items() if name not in own}
    return WebOptions.model_validate({**given, **own})


def _payment(principal: Principal, run: Run, wanted: RagSettings, cap: Decimal | None) -> CappedPayment:
    ledger: Payment = LedgerPayment(
        lambda: Payer.of(run.workspace_id, run.execution_id, principal.usage_owner)
    )
    chats = planning_models(wanted) if cap is not None else []
    if not chats:
        return CappedPayment(ledger, run.execution_id, cap)
    answer = chats[0].price(deployment.GENERATION_CONTEXT_TOKENS, deployment.GENERATION_MAX_TOKENS)
    return CappedPayment(ledger, run.execution_id, cap, kept_back=answer)
