"""The pages of this app."""

from django.urls import path

from assistants import views

urlpatterns = [
    path("", views.ask, name="ask"),
    path("c/<uuid:id>", views.conversation, name="conversation"),
]
