"""Django's view of the app."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """From a question to a cited answer."""

    name = "search"

    def ready(self) -> None:
        """Make the settings of the tools known, and what operators can see of them."""
        from accounts.preferences import declare
        from kb import metrics
        from search.preferences import RAG
        from search.web.metrics import BreakerStates
        from search.web.preferences import WEB_SEARCH

        declare(RAG)
        declare(WEB_SEARCH)
        metrics.shared.append(BreakerStates())
