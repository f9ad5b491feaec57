"""Django's view of the app."""

from django.apps import AppConfig


class AssistantsConfig(AppConfig):
    """Conversations: messages, their answers, and how they are shared and kept."""

    name = "assistants"

    def ready(self) -> None:
        """Register what of conversations goes into exports, and out with external users."""
        from accounts.external_users import deletion as external_users
        from accounts.people.export import exporters
        from assistants.archiving import archived_messages, export_messages, import_message
        from assistants.conversations import delete_messages_of_external_user
        from runs.archives import messages

        exporters.append(export_messages)
        messages.exporters.append(archived_messages)
        messages.importers.append(import_message)
        external_users.removers.append(delete_messages_of_external_user)
