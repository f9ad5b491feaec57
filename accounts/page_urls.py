"""The pages of this app."""

from django.urls import path

from accounts import views

urlpatterns = [
    path("keys/", views.keys, name="keys"),
    path("preferences", views.preferences, name="preferences"),
    path("workspace-settings", views.default_workspace_settings, name="default_workspace_settings"),
    path("workspaces/<uuid:id>/settings", views.workspace_settings, name="workspace_settings"),
]
