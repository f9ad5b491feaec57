"""The pages of this app."""

from django.urls import path

from accounts import views

urlpatterns = [
    path("keys/", views.keys, name="keys"),
]
