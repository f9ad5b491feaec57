"""Django's view of the app."""

from django.apps import AppConfig


class KbConfig(AppConfig):
    """The knowledge base: documents, chunks, locations, vectors."""

    name = "kb"
    verbose_name = "Knowledge base"
