"""The pages of this app."""

from django.urls import path

from accounts import usage_views, views, workspace_views

urlpatterns = [
    path("keys/", views.keys, name="keys"),
    path("preferences", views.preferences, name="preferences"),
    path("workspace-settings", views.default_workspace_settings, name="default_workspace_settings"),
    path("workspaces", workspace_views.workspaces, name="workspaces"),
    path("workspaces/<uuid:id>", workspace_views.workspace, name="workspace"),
    path("workspaces/<uuid:id>/members", workspace_views.members, name="workspace_members"),
    path("workspaces/<uuid:id>/usage", usage_views.workspace_usage, name="workspace_usage"),
    path("workspaces/<uuid:id>/activity", usage_views.workspace_activity, name="workspace_activity"),
    path("usage", usage_views.own_usage, name="own_usage"),
    path("workspaces/<uuid:id>/webhooks", workspace_views.webhooks, name="workspace_webhooks"),
    path("workspaces/<uuid:id>/external-users", workspace_views.external_users, name="external_users"),
    path("invitations/<str:secret>", workspace_views.invitation, name="invitation"),
    path("workspaces/<uuid:id>/settings", views.workspace_settings, name="workspace_settings"),
]
