"""Django's view of the app."""

from django.apps import AppConfig


class IngestionConfig(AppConfig):
    """Turns files into elements, chunks and vectors."""

    name = "ingestion"
