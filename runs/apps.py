"""Django's view of the app."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Runs of tools: stored, followed, ended."""

    name = "runs"

    def ready(self) -> None:
        """Register what becomes of runs when what they belong to is deleted, and their export."""
        from accounts.external_users import deletion as external_users
        from accounts.external_users import listing
        from accounts.people import deletion as people
        from accounts.people.export import exporters
        from kb import deletion
        from runs.archives.transfers import remove_archives_of
        from runs.lifecycle import (
            cancel_runs_of,
            delete_executions_of_external_user,
            executions_of_external_users,
        )
        from runs.personal_export import export_executions
        from runs.scrubbing import scrub_documents

        deletion.scrubbers.append(scrub_documents)
        people.removers.append(remove_archives_of)
        people.stoppers.append(cancel_runs_of)
        exporters.append(export_executions)
        external_users.removers.append(delete_executions_of_external_user)
        listing.sources.append(executions_of_external_users)
