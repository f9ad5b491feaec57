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
        """Take deleted documents out of the search index, whoever deletes them."""
        from kb.index.segments import forget

        def forget_deleted(instance: Document, **_: object) -> None:
            forget([instance.pk])

        pre_delete.connect(forget_deleted, self.get_model("Document"), weak=False, dispatch_uid="index")
