"""Django's view of the app."""

from django.apps import AppConfig


class IngestionConfig(AppConfig):
    """From a file to elements, chunks and vectors."""

    name = "ingestion"
