"""Django's view of the app."""

from django.apps import AppConfig


class AssistantsConfig(AppConfig):
    """Conversations and assistants: messages, answers, and how they are shared and kept."""

    name = "assistants"

    def ready(self) -> None:
        """Register what goes into exports, and what becomes of it when people are deleted."""
        from accounts.external_users import deletion as external_users
        from accounts.people.deletion import removers
        from accounts.people.export import exporters
        from accounts.tokens_api import binders
        from assistants.archived_assistants import archived_assistants, import_assistant
        from assistants.archiving import archived_messages, export_messages, import_message
        from assistants.configuration.people import export_assistants, hand_over_assistants
        from assistants.conversations import delete_messages_of_external_user
        from assistants.widgets.visitors import bound_to_widget
        from runs.archives import assistants, messages

        binders.append(bound_to_widget)
        exporters.extend([export_messages, export_assistants])
        removers.append(hand_over_assistants)
        messages.exporters.append(archived_messages)
        messages.importers.append(import_message)
        assistants.exporters.append(archived_assistants)
        assistants.importers.append(import_assistant)
        external_users.removers.append(delete_messages_of_external_user)
