"""Django's view of the app."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """From a question to a cited answer."""

    name = "search"

    def ready(self) -> None:
        """Make the tools' settings known, what operators see of them, and what a deletion must reach."""
        from accounts.preferences import declare
        from kb import deletion, metrics
        from search.executions.scrubbing import scrub_documents
        from search.preferences import RAG
        from search.web.metrics import BreakerStates
        from search.web.preferences import WEB_SEARCH

        declare(RAG)
        declare(WEB_SEARCH)
        metrics.shared.append(BreakerStates())
        deletion.scrubbers.append(scrub_documents)
