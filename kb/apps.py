"""Django's view of the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db.models.signals import pre_delete

if TYPE_CHECKING:
    from kb.models import Document


class KbConfig(AppConfig):
    """The knowledge base: documents, chunks, locations, vectors."""

    name = "kb"
    verbose_name = "Knowledge base"

    def ready(self) -> None:
        """Take part in the deletion of workspaces, people and external users; declare settings."""
        from accounts.external_users import deletion as external_users
        from accounts.external_users import listing
        from accounts.people import deletion as people
        from accounts.people.export import exporters
        from accounts.preferences import declare
        from accounts.usage.storage import measures
        from kb.changes import cancel_ingestion_of, resume_ingestion_of
        from kb.deletion import (
            count_documents_of,
            delete_documents_of,
            delete_documents_of_external_user,
            documents_of_external_users,
            withdraw,
        )
        from kb.notifications.preferences import NOTIFICATIONS
        from kb.personal_export import export_documents
        from kb.storage_quota import stored_in

        def withdraw_deleted(instance: Document, **_: object) -> None:
            withdraw(instance)

        pre_delete.connect(
            withdraw_deleted, self.get_model("Document"), weak=False, dispatch_uid="withdraw_deleted"
        )
        declare(NOTIFICATIONS)
        exporters.append(export_documents)
        people.removers.append(delete_documents_of)
        people.counters.append(count_documents_of)
        people.stoppers.append(cancel_ingestion_of)
        people.resumers.append(resume_ingestion_of)
        measures.append(stored_in)
        external_users.removers.append(delete_documents_of_external_user)
        listing.sources.append(documents_of_external_users)
