"""Django's view of the app."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Runs of tools: stored, followed, ended."""

    name = "runs"

    def ready(self) -> None:
        """Let the deletion of a document reach what runs have stored of it."""
        from kb import deletion
        from runs.scrubbing import scrub_documents

        deletion.scrubbers.append(scrub_documents)
