"""Which tool a request runs, with which inputs.

| wanted                          | tool         |
|---------------------------------|--------------|
| documents                       | `rag_search` |
| the web                         | `web_search` |
| both, or either after a turn    | `answer`     |
| the fetching of an address alone| `web_fetch`  |
| an assistant, as `model`        | `agent`      |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from accounts.access.identity import AskerFields
from accounts.principal import Principal
from assistants.agent.planners import planning_model
from assistants.gateway.conversation import Conversation
from assistants.gateway.errors import ModelNotFound, UnsupportedTool
from assistants.gateway.wanted_tools import WantedTools
from assistants.models import Assistant
from core.api.validation import validated
from core.errors import LocusError
from core.text.storable import is_storable
from runs.context import PLAIN_STYLE, WritingStyle
from runs.lifecycle import paying_workspace
from runs.registry import tool_named
from runs.request import Call
from search.preferences import generation_models, rag_settings
from search.web.preferences import are_web_tools_offered, is_enabled

OUR_MODEL = "locus"
_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_PLACES = {
    "rag_search": {"query": "query", "": "documents"},
    "web_search": {"query": "query", "": "web"},
    "web_fetch": {"url": "query", "": "fetch"},
    "agent": {
        "query": "query",
        "history": "query",
        "documents": "documents",
        "web": "web",
        "assistant_id": "model",
        "functions": "functions",
        "must_call": "must_call",
        "function_results": "query",
    },
    "answer": {"query": "query", "history": "query", "documents": "documents", "web": "web"},
}
"""By tool and the first name of a parameter (any other: ""): what of the request it comes from."""


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """What every protocol comes to."""

    conversation: Conversation
    tools: WantedTools
    models: list[str]
    asker: Mapping[str, Any]
    """`workspace_id`, `session_id`, `external_user_id`, those that are given."""
    param: str
    """What the protocol calls the question: `input`, `messages`."""
    style: WritingStyle = PLAIN_STYLE


@dataclass(frozen=True, slots=True)
class Plan:
    """The call to run, and the model that will be asked."""

    call: Call
    model: str


def plan_of(principal: Principal, request: GatewayRequest) -> Plan:
    """Return the call of a request; raise `LocusError` for everything that can be told before it runs."""
    if request.tools.functions and planning_model("") is None:
        raise UnsupportedTool("A chat model calls functions, and none is connected here.", param="tools")
    asker = {name: value for name, value in request.asker.items() if name in AskerFields.model_fields}
    principal = validated(AskerFields, asker).asker(principal)
    workspace_id = request.asker.get("workspace_id")
    assistant = assistant_named(principal, request.models)
    asker = dict(request.asker)
    if assistant is None:
        paying = paying_workspace(principal, UUID(workspace_id) if workspace_id else None)
        model = model_for(principal, paying, request.models)
        wanted = request.tools or _switched_on(principal, paying)
        wanted.functions, wanted.must_call = request.tools.functions, request.tools.must_call
        wanted.params |= request.tools.params
        if wanted.functions or request.conversation.function_results:
            name, inputs = "agent", _inputs_with_functions(wanted, request.conversation)
        else:
            name, inputs = _tool_and_inputs(wanted, request.conversation, request.param)
    else:
        model, wanted = assistant.name, request.tools
        name, inputs = "agent", _agent_inputs(assistant, wanted, request.conversation)
        if principal.session_id is None:
            asker.setdefault("workspace_id", str(assistant.workspace_id))
    try:
        call = Call.parse(principal, tool_named(name), {**inputs, **asker})
    except LocusError as error:
        if error.param is not None and error.param.partition("[")[0] not in request.asker:
            error.param = _param(name, error.param, wanted, request.param)
        raise
    return Plan(replace(call, holds_statements=True, style=request.style), model)


def models_of(principal: Principal, workspace_id: UUID) -> list[str]:
    """Return the names of models that requests may give: ours, and that of who writes the answers."""
    return [OUR_MODEL, rag_settings(principal, workspace_id).generation_model]


def assistant_named(principal: Principal, names: list[str]) -> Assistant | None:
    """Return the assistant that the one model of a request names, by its id or its name; None for a model.

    Of several with one name the caller's own goes first, then the oldest.
    """
    if len(names) != 1 or names[0] == OUR_MODEL or names[0] in generation_models():
        return None
    rows = Assistant.objects.addressable_by(principal)
    try:
        return rows.filter(pk=UUID(names[0])).first()
    except ValueError:
        named = rows.filter(name=names[0]) if is_storable(names[0]) else rows.none()
        return named.order_by("visibility", "created_at", "pk").first()


def _agent_inputs(assistant: Assistant, wanted: WantedTools, conversation: Conversation) -> dict[str, Any]:
    web = wanted.web if wanted.web is not None or wanted.fetch is None else {}
    narrowed = {"documents": wanted.documents, "web": web}
    given = {name: options for name, options in narrowed.items() if options is not None}
    asked = {"query": conversation.question, "history": conversation.history}
    return {**asked, "assistant_id": str(assistant.pk), **given, **_functions(wanted, conversation)}


def _inputs_with_functions(wanted: WantedTools, conversation: Conversation) -> dict[str, Any]:
    web = wanted.web if wanted.web is not None or wanted.fetch is None else {}
    both = {"documents": wanted.documents, "web": web}
    given = {name: options for name, options in both.items() if options is not None}
    asked = {"query": conversation.question, "history": conversation.history}
    return {**asked, **given, **_functions(wanted, conversation)}


def _functions(wanted: WantedTools, conversation: Conversation) -> dict[str, Any]:
    """Return the caller's functions, and what they gave, where there are any."""
    given = {
        "functions": wanted.functions,
        "must_call": wanted.must_call,
        "function_results": conversation.function_results,
    }
    return {name: value for name, value in given.items() if value}


def model_for(principal: Principal, workspace_id: UUID, names: list[str]) -> str:
    """Return the model that serves a request; raise `ModelNotFound` for a name that is not one of ours."""
    known = models_of(principal, workspace_id)
    for name in names:
        if name not in known:
            raise ModelNotFound(f"There is no model “{name}”. GET /v1/models lists them.", param="model")
    return known[-1]


def _switched_on(principal: Principal, workspace_id: UUID) -> WantedTools:
    """Return what the workspace has switched on: documents always, the web where it may be searched."""
    has_web = are_web_tools_offered() and is_enabled(principal, workspace_id)
    return WantedTools(documents={}, web={} if has_web else None)


def _tool_and_inputs(
    wanted: WantedTools, conversation: Conversation, param: str
) -> tuple[str, dict[str, Any]]:
    if wanted.documents is None and wanted.web is None:
        return "web_fetch", _address_in(conversation.question, param)
    query: dict[str, Any] = {"query": conversation.question}
    web = wanted.web
    if web is not None and wanted.fetch is not None:
        web = {"expand": True, **web}
    if wanted.documents is not None and web is None and not conversation.history:
        return "rag_search", {**wanted.documents, **query}
    if web is not None and wanted.documents is None and not conversation.history:
        return "web_search", {**web, **query}
    both = {"documents": wanted.documents, "web": web}
    given = {name: options for name, options in both.items() if options is not None}
    return "answer", {**query, "history": conversation.history, **given}


def _address_in(question: str, param: str) -> dict[str, Any]:
    found = _ADDRESS.search(question)
    if found is None:
        raise UnsupportedTool(
            "fetch_url alone needs the address of a page in the question; "
            "add web_search or rag_search to have something searched.",
            param=param,
        )
    return {"url": found.group().rstrip(".,;:!?)]}'")}


def _param(tool: str, param: str, wanted: WantedTools, question: str) -> str:
    """Return what the request calls a parameter of the tool."""
    first, _, rest = param.partition(".")
    places = _PLACES[tool]
    place = places.get(first.partition("[")[0], places.get("", "query"))
    if place == "query":
        return question
    if place == "model":
        return "model"
    if place == "functions":
        # `functions[0].name` is within `tools[n]`, and n counts other tools, too.
        return "tools"
    inner = rest if tool in ("answer", "agent") else param
    where = wanted.params.get(place, "tools")
    return f"{where}.{inner}" if inner else where
