"""Django's view of the app."""

from django.apps import AppConfig


class IngestionConfig(AppConfig):
    """From a file to elements, chunks and vectors."""

    name = "ingestion"

    def ready(self) -> None:
        """Read pages of the web for those who search there."""
        from ingestion.page_text import read_page
        from kb.page_text import provide

        provide(read_page)
