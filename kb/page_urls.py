"""The pages of this app."""

from django.urls import path

from kb import views
from kb.notifications.views import unsubscribe_page

urlpatterns = [
    path("favicon.ico", views.favicon),
    path("unsubscribe/<str:token>", unsubscribe_page, name="unsubscribe"),
    path("documents/", views.documents, name="documents"),
    path("documents/<uuid:id>", views.document, name="document"),
]
