"""Django's view of the app."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """From a question to a cited answer."""

    name = "search"

    def ready(self) -> None:
        """Make the tools' settings known."""
        from accounts.preferences import declare
        from search.preferences import RAG
        from search.web.preferences import WEB_SEARCH

        declare(RAG)
        declare(WEB_SEARCH)
