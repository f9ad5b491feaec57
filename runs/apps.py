"""Django's view of the app."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Runs of tools: stored, followed, ended."""

    name = "runs"

    def ready(self) -> None:
        """Register the scrubbing of runs for deleted documents."""
        from kb import deletion
        from runs.scrubbing import scrub_documents

        deletion.scrubbers.append(scrub_documents)
