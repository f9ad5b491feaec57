"""The pages of this app."""

from django.urls import path

from assistants import views
from assistants.pages import assistants, bindings
from assistants.tool_servers import pages as tool_server_pages

urlpatterns = [
    path("", views.ask, name="ask"),
    path("assistants", assistants.assistants, name="assistants"),
    path("assistants/new", assistants.new_assistant, name="new_assistant"),
    path("assistants/<uuid:id>", assistants.assistant, name="assistant"),
    path("assistants/<uuid:id>/delete", assistants.delete, name="delete_assistant"),
    path("assistants/<uuid:id>/resolved", bindings.resolved, name="resolved_assistant"),
    path("assistants/<uuid:id>/bindings", bindings.bindings, name="assistant_bindings"),
    path("bindings/<uuid:id>", bindings.binding, name="assistant_binding"),
    path("bindings/<uuid:id>/end", bindings.end_binding, name="end_binding"),
    path("workspaces/<uuid:id>/tool-servers", tool_server_pages.tool_servers, name="workspace_tool_servers"),
    path("c/<uuid:id>", views.conversation, name="conversation"),
]
