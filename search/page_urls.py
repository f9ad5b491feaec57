"""The pages of this app."""

from django.urls import path

from search import views

urlpatterns = [
    path("", views.ask, name="ask"),
]
