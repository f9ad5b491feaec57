"""The list of assistants, and the form of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.principal import Principal
from assistants.configuration.assistants import (
    change_assistant,
    changeable_assistant,
    create_assistant,
    delete_assistant,
    listed_assistants,
    may_change,
)
from assistants.configuration.resolving import version_of
from assistants.configuration.schemas import AssistantPatch
from assistants.configuration.settings import AssistantSettings, read_settings
from assistants.models import Assistant, Visibility
from assistants.pages.fields import sent_settings, shown_fields, with_valid
from core.api.validation import validated
from core.errors import LocusError, NotFound


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

    def context(self) -> dict[str, Any]:
        """Return the template's names."""
        return {
            "form": self,
            "assistant": self.assistant,
            **shown_fields(self.principal, self.settings),
        }


def principal_of_reader(request: HttpRequest) -> Principal:
    """Return who reads a page that needs a login."""
    assert isinstance(request.user, User)
    return principal_of_user(request.user)


def changeable_or_404(request: HttpRequest, id: UUID) -> Assistant:
    """Return an assistant that the reader may change; raise `Http404` for any other."""
    try:
        return changeable_assistant(principal_of_reader(request), id)
    except LocusError:
        raise Http404 from None


@login_required
@require_safe
def assistants(request: HttpRequest) -> HttpResponse:
    """List the assistants that the user may ask."""
    principal = principal_of_reader(request)
    rows = listed_assistants(principal).select_related("workspace").order_by("name", "pk")
    shown = [(row, may_change(principal, row)) for row in rows]
    return render(request, "assistants/assistants.html", {"rows": shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_assistant(request: HttpRequest) -> HttpResponse:
    """Show an empty form; make an assistant of what is sent."""
    principal = principal_of_reader(request)
    form = AssistantForm(principal, None, AssistantSettings())
    form.workspace_id = principal.personal_workspace_id
    if request.method != "POST":
        return render(request, "assistants/assistant.html", form.context())
    try:
        workspace = _workspace(form, request.POST)
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
    principal, row = principal_of_reader(request), changeable_or_404(request, id)
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
    row = changeable_or_404(request, id)
    delete_assistant(principal_of_reader(request), row)
    messages.success(request, gettext("“%(name)s” is deleted.") % {"name": row.name})
    return redirect("assistants")


def _workspace(form: AssistantForm, sent: QueryDict) -> UUID:
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
    facts = {"name": form.name, "description": form.description, "visibility": form.visibility}
    values = sent_settings(form.principal, form.settings, sent)
    form.settings = with_valid(form.settings, values)
    return validated(AssistantPatch, facts | {"settings": values})


def _refused(request: HttpRequest, form: AssistantForm, error: LocusError) -> HttpResponse:
    form.error = error.message
    return render(request, "assistants/assistant.html", form.context(), status=400)
