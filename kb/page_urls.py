"""The pages of this app."""

from django.urls import path

from kb import views

urlpatterns = [
    path("favicon.ico", views.favicon),
    path("documents/", views.documents, name="documents"),
    path("documents/<uuid:id>", views.document, name="document"),
]
