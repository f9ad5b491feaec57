"""The pages of this app."""

from django.urls import path

from locus.help_page import help_page
from locus.installed_app import WORKER, service_worker, share, web_manifest
from locus.model_connection.page import connect_model

urlpatterns = [
    path("help", help_page, name="help"),
    path("manifest.webmanifest", web_manifest, name="web_manifest"),
    path(WORKER, service_worker, name="service_worker"),
    path("share", share, name="share"),
    path("connect-model", connect_model, name="connect_model"),
]
