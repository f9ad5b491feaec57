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
        """Connect the signal that completes deletions by cascade."""
        from accounts.people import deletion as people
        from kb.deletion import count_documents_of, delete_documents_of, withdraw

        def withdraw_deleted(instance: Document, **_: object) -> None:
            withdraw(instance)

        pre_delete.connect(
            withdraw_deleted, self.get_model("Document"), weak=False, dispatch_uid="withdraw_deleted"
        )
        people.removers.append(delete_documents_of)
        people.counters.append(count_documents_of)
