"""Pages of assistants: the list, the form of one, and what counts by each way of reaching it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.principal import Principal
from assistants.configuration.assistants import (
    change_assistant,
    changeable_assistant,
    create_assistant,
    delete_assistant,
    listed_assistants,
    may_change,
)
from assistants.configuration.resolving import as_configured, version_of, visible_assistant
from assistants.configuration.schemas import AssistantPatch
from assistants.configuration.settings import AssistantSettings, read_settings
from assistants.models import Assistant, BindingKind, Visibility
from core.api.validation import validated
from core.errors import LocusError, NotFound
from search.preferences import generation_models
from search.web.preferences import are_web_tools_offered

TOOLS = {
    "rag_search": gettext_lazy("search documents"),
    "list_documents": gettext_lazy("list documents"),
    "read_document": gettext_lazy("read documents page by page"),
    "web_search": gettext_lazy("search the web"),
    "web_fetch": gettext_lazy("read pages of the web"),
}
WAYS = {
    BindingKind.PAGE: gettext_lazy("These pages"),
    BindingKind.API_KEY: gettext_lazy("API key"),
    BindingKind.WEBSOCKET: gettext_lazy("Websocket"),
    BindingKind.MCP: gettext_lazy("MCP"),
    BindingKind.WIDGET: gettext_lazy("Widget"),
}
SETTINGS = {
    "instructions": gettext_lazy("Instructions"),
    "model": gettext_lazy("Model"),
    "tools": gettext_lazy("Tools"),
    "scope": gettext_lazy("Documents"),
    "web": gettext_lazy("Web"),
    "style": gettext_lazy("Style"),
    "limits": gettext_lazy("Limits"),
    "starters": gettext_lazy("Questions to begin with"),
}


@dataclass(slots=True)
class AssistantForm:
    """What the form of an assistant shows."""

    principal: Principal
    assistant: Assistant | None
    settings: AssistantSettings
    name: str = ""
    description: str = ""
    visibility: str = Visibility.MINE
    workspace_id: UUID | None = None
    error: str = ""
    tools: dict[str, Any] = field(default_factory=lambda: dict(_tools()))

    def context(self) -> dict[str, Any]:
        """Return the template's names."""
        scope = self.settings.scope
        return {
            "form": self,
            "assistant": self.assistant,
            "settings": self.settings,
            "tools": [(name, words, name in self.settings.tools) for name, words in self.tools.items()],
            "models": generation_models(),
            "starters": "\n".join(self.settings.starters),
            "tags": ", ".join(scope.tags or ()),
            "workspaces": [(each, each.pk in (scope.workspace_ids or ())) for each in self._workspaces()],
        }

    def _workspaces(self) -> list[Workspace]:
        return list(Workspace.objects.filter(pk__in=self.principal.workspace_ids).order_by("name", "pk"))


def _tools() -> list[tuple[str, Any]]:
    offered = are_web_tools_offered()
    return [(name, words) for name, words in TOOLS.items() if offered or not name.startswith("web_")]


def _principal(request: HttpRequest) -> Principal:
    assert isinstance(request.user, User)
    return principal_of_user(request.user)


@login_required
@require_safe
def assistants(request: HttpRequest) -> HttpResponse:
    """List the assistants that the user may ask."""
    principal = _principal(request)
    rows = listed_assistants(principal).select_related("workspace").order_by("name", "pk")
    shown = [(row, may_change(principal, row)) for row in rows]
    return render(request, "assistants/assistants.html", {"rows": shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_assistant(request: HttpRequest) -> HttpResponse:
    """Show an empty form; make an assistant of what is sent."""
    principal = _principal(request)
    form = AssistantForm(principal, None, AssistantSettings())
    form.workspace_id = principal.personal_workspace_id
    if request.method != "POST":
        return render(request, "assistants/assistant.html", form.context())
    try:
        workspace = _read(form, request.POST)
        body = _patch(form, request.POST)
        made = create_assistant(principal, workspace, body.columns(), body.settings)
    except LocusError as error:
        return _refused(request, form, error)
    messages.success(request, gettext("“%(name)s” can be asked now.") % {"name": made.name})
    return redirect("assistants")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def assistant(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show the form of an assistant, to those who may change it; change it as is sent."""
    principal = _principal(request)
    try:
        row = changeable_assistant(principal, id)
    except LocusError:
        raise Http404 from None
    settings = read_settings(version_of(row, row.version).settings)
    form = AssistantForm(
        principal, row, settings, row.name, row.description, row.visibility, row.workspace_id
    )
    if request.method != "POST":
        return render(request, "assistants/assistant.html", form.context())
    try:
        body = _patch(form, request.POST)
        changed = None if body.settings == settings else body.settings
        change_assistant(principal, row, body.columns(), changed)
    except LocusError as error:
        return _refused(request, form, error)
    messages.success(request, gettext("“%(name)s” is saved.") % {"name": row.name})
    return redirect("assistants")


@login_required
@require_POST
def delete(request: HttpRequest, id: UUID) -> HttpResponse:
    """Delete an assistant."""
    principal = _principal(request)
    try:
        row = changeable_assistant(principal, id)
    except LocusError:
        raise Http404 from None
    delete_assistant(principal, row)
    messages.success(request, gettext("“%(name)s” is deleted.") % {"name": row.name})
    return redirect("assistants")


@login_required
@require_safe
def resolved(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show what counts for a request by each way of reaching an assistant."""
    try:
        row = visible_assistant(_principal(request), id)
    except NotFound:
        raise Http404 from None
    version = version_of(row, row.version)
    bindings = list(row.bindings.select_related("key"))
    columns = [as_configured(row, version, None), *(as_configured(row, version, each) for each in bindings)]
    labels = [gettext("Assistant"), *(WAYS[BindingKind(each.kind)] for each in bindings)]
    table = [
        (
            words,
            [
                (_in_words(column.settings, name), name in own, label)
                for column, own, label in zip(columns, _own(bindings), labels, strict=True)
            ],
        )
        for name, words in SETTINGS.items()
    ]
    # What a key is called is its owner's.
    ways = [
        (
            WAYS[BindingKind(each.kind)],
            each.key if each.key and each.key.user == request.user else None,
            each.origins,
        )
        for each in bindings
    ]
    shown = {"assistant": row, "table": table, "ways": ways}
    return render(request, "assistants/resolved.html", shown)


def _own(bindings: list[Any]) -> list[Any]:
    """Return by column the settings that are its own; none in the assistant's."""
    return [(), *(each.overrides for each in bindings)]


def _in_words(settings: AssistantSettings, name: str) -> str:
    """Return a setting in words; empty where it narrows or sets nothing."""
    value = getattr(settings, name)
    if name == "tools":
        return ", ".join(str(TOOLS[tool]) for tool in value)
    if hasattr(value, "model_dump"):
        given = value.model_dump(mode="json", exclude_none=True)
        return ", ".join(f"{key}: {_one(item)}" for key, item in given.items())
    return ", ".join(value) if isinstance(value, list) else value or ""


def _one(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- What a form sends -----------------------------------------------------------------------------------


def _read(form: AssistantForm, sent: QueryDict) -> UUID:
    """Return the workspace that is chosen; raise `NotFound` for one that can't be seen."""
    try:
        form.workspace_id = UUID(sent.get("workspace", ""))
    except ValueError:
        raise NotFound(gettext("Choose a workspace.")) from None
    return form.workspace_id


def _patch(form: AssistantForm, sent: QueryDict) -> AssistantPatch:
    """Return what is sent as the API takes it, and keep it for showing the form again; raise `LocusError`."""
    form.name, form.description = sent.get("name", ""), sent.get("description", "")
    form.visibility = sent.get("visibility", Visibility.MINE)
    before = form.settings.model_dump(mode="json")
    tags = [tag.strip() for tag in sent.get("tags", "").split(",") if tag.strip()]
    # One that the user does not see would be lost, and the scope be wider: it stays, and is refused.
    unseen = [id for id in before["scope"]["workspace_ids"] or () if UUID(id) not in form.principal.roles]
    scope = {"tags": tags or None, "workspace_ids": [*sent.getlist("workspaces"), *unseen] or None}
    limits = {name: _number(sent.get(name, "")) for name in ("max_steps", "max_seconds", "max_cost")}
    values = before | {
        "instructions": sent.get("instructions", ""),
        "model": sent.get("model") or None,
        "tools": sent.getlist("tools"),
        # Documents and collections are chosen through the API, and stay.
        "scope": before["scope"] | scope,
        "limits": {name: value for name, value in limits.items() if value is not None},
        "starters": [line.strip() for line in sent.get("starters", "").splitlines() if line.strip()],
    }
    facts = {"name": form.name, "description": form.description, "visibility": form.visibility}
    return validated(AssistantPatch, facts | {"settings": values})


def _number(text: str) -> float | int | str | None:
    """Return a number as it was typed; what is none is for the validation to refuse."""
    text = text.strip().replace(",", ".")
    try:
        return int(text) if text.isascii() and text.isdigit() else float(text) if text else None
    except ValueError:
        return text


def _refused(request: HttpRequest, form: AssistantForm, error: LocusError) -> HttpResponse:
    form.error = error.message
    return render(request, "assistants/assistant.html", form.context(), status=400)
