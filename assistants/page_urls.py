"""The pages of this app."""

from django.urls import path

from assistants import assistant_views, views

urlpatterns = [
    path("", views.ask, name="ask"),
    path("assistants", assistant_views.assistants, name="assistants"),
    path("assistants/new", assistant_views.new_assistant, name="new_assistant"),
    path("assistants/<uuid:id>", assistant_views.assistant, name="assistant"),
    path("assistants/<uuid:id>/delete", assistant_views.delete, name="delete_assistant"),
    path("assistants/<uuid:id>/resolved", assistant_views.resolved, name="resolved_assistant"),
    path("c/<uuid:id>", views.conversation, name="conversation"),
]
