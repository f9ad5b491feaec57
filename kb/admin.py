"""Documents in the admin panel: owner and state. Contents are visible only to their tenants."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from accounts.admin_deletion import in_words
from kb.deletion import Receipt, delete_document, delete_documents
from kb.documents import reprocess
from kb.models import Document, EmbeddingSpace


@admin.register(Document)
class DocumentAdmin(ModelAdmin):  # type: ignore[misc]
    """Documents of all workspaces, to look after, not to read."""

    list_display = ["name", "workspace", "external_user_id", "status", "pages", "chunks", "created_at"]
    list_filter = ["status", "file_type", "searchable"]
    search_fields = ["name", "workspace__name", "external_user_id", "id"]
    list_select_related = ["workspace", "workspace__personal_of"]
    actions = ["reprocess_selected"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Return documents of every tenant: the admin panel is for staff and its changes are logged."""
        return Document.unscoped.order_by("-created_at", "id")

    @admin.display(description="pages", ordering="page_count")
    def pages(self, document: Document) -> int | None:
        """Return how many pages it has."""
        return document.page_count

    @admin.display(description="chunks", ordering="chunk_count")
    def chunks(self, document: Document) -> int:
        """Return how many chunks it has."""
        return document.chunk_count

    def get_readonly_fields(self, request: HttpRequest, obj: Document | None = None) -> list[str]:
        """Make everything read-only; documents change only by the actions."""
        return [field.name for field in Document._meta.fields if field.name != "file"]

    def get_fields(self, request: HttpRequest, obj: Document | None = None) -> list[str]:
        """Show every field except the file itself."""
        return self.get_readonly_fields(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: documents are added through the product."""
        return False

    def get_deleted_objects(
        self, objs: Iterable[Document], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return names and counts: a list would name each chunk and vector."""
        documents = list(objs)
        counts = {"documents": len(documents), "chunks": sum(document.chunk_count for document in documents)}
        return [document.name for document in documents], counts, set(), []

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        """Delete with everything that belongs to the document, its file included."""
        self._say(request, delete_document(obj))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Delete each with everything that belongs to it."""
        self._say(request, delete_documents(queryset.values_list("pk", flat=True)))

    def _say(self, request: HttpRequest, receipt: Receipt) -> None:
        self.message_user(request, f"Deleted: {in_words(receipt.counts)}.", messages.INFO)

    @admin.action(description="Process again")
    def reprocess_selected(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Queue the documents' ingestion again."""
        for document in queryset:
            reprocess(document)
        self.message_user(request, f"{len(queryset)} queued.", messages.SUCCESS)


@admin.register(EmbeddingSpace)
class EmbeddingSpaceAdmin(ModelAdmin):  # type: ignore[misc]
    """The models whose vectors are stored."""

    list_display = ["model", "revision", "dimensions", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: the model that fills a space creates it."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: EmbeddingSpace | None = None) -> bool:
        """Refuse: vectors would no longer match their model."""
        return False
