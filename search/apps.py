"""Django's view of the app."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """From a question to a cited answer."""

    name = "search"

    def ready(self) -> None:
        """Make the settings of `rag_search` known."""
        from accounts.preferences import declare
        from search.preferences import RAG

        declare(RAG)
