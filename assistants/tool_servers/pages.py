"""The page of a workspace's tool servers: admins add them, look at their tools, and choose."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.principal import Principal
from accounts.roles import Role
from accounts.workspace_frame import open_workspace
from assistants.models import ToolServer
from assistants.tool_servers.managing import (
    assistants_of_workspace,
    change_tool_server,
    create_tool_server,
    delete_tool_server,
    look_at_tools,
    tool_servers_of,
)
from core.errors import LocusError


@login_required
@require_http_methods(["GET", "POST"])
def tool_servers(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin the tool servers of a workspace; do what a form asks for."""
    if not settings.TOOL_SERVERS:
        raise Http404
    frame = open_workspace(request, id, Role.ADMIN)
    fault = ""
    if request.method == "POST":
        try:
            messages.success(request, _done(request, frame.principal, id))
            return redirect("workspace_tool_servers", id)
        except LocusError as error:
            fault = error.message
    assistants = list(assistants_of_workspace(frame.principal, id))
    servers = [
        {
            "server": server,
            "tools": [(each, each["name"] in server.tools) for each in server.offered],
            "assistants": [(each, each.pk in server.assistant_ids) for each in assistants],
        }
        for server in tool_servers_of(frame.principal, id)
    ]
    shown = {"frame": frame, "servers": servers, "fault": fault, "typed": request.POST if fault else {}}
    return render(request, "assistants/tool_servers.html", shown, status=400 if fault else 200)


def _done(request: HttpRequest, principal: Principal, workspace_id: UUID) -> str:
    """Do what a form asks for, and return what is said of it; raise `LocusError`."""
    form = request.POST
    action = form.get("action", "")
    if action == "add":
        server = create_tool_server(
            principal, workspace_id, form.get("name", ""), form.get("url", ""), form.get("secret", "")
        )
        look_at_tools(server)
        return gettext("Added. Now choose its tools, and the assistants that may use them.")
    server = _named(principal, workspace_id, form.get("id", ""))
    if action == "look":
        look_at_tools(server)
        return gettext("These are the tools that it offers now.")
    if action == "delete":
        delete_tool_server(principal, server)
        return gettext("Removed.")
    if action != "save":
        raise Http404
    change_tool_server(
        principal,
        server,
        secret=form.get("secret") or None,
        tools=form.getlist("tools"),
        assistant_ids=[each for each in map(_id, form.getlist("assistants")) if each],
        is_enabled="is_enabled" in form,
    )
    return gettext("Saved.")


def _named(principal: Principal, workspace_id: UUID, id: str) -> ToolServer:
    number = _id(id)
    server = tool_servers_of(principal, workspace_id).filter(pk=number).first() if number else None
    if server is None:
        raise Http404
    return server


def _id(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None
