"""Documents in the admin panel: where they are, how they are doing, what may be done. No words of theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils import timezone
from unfold.admin import ModelAdmin

from accounts.admin_filters import WorkspaceFilter
from accounts.admin_records import RecordButton, RecordPages, Tab
from accounts.audit.recording import record
from accounts.models import AuditAction, User
from accounts.people.deletion import in_words
from core.errors import LocusError
from kb.changes import cancel
from kb.deletion import Receipt, delete_documents
from kb.document_facts import STATUS_WORDS, facts_of, fields_of, hidden_parts, report_of
from kb.document_history import jobs_of, moments_of
from kb.documents import reprocess
from kb.models import FINISHED, Document, Status

AT_ONCE = 100
"""So many documents an action of the list may queue or cancel in one request."""
NAMED = 20
"""So many names a confirmation lists."""


class FailureFilter(admin.SimpleListFilter):
    """Failed documents that nobody has looked at, as on the page of failed work."""

    title = "failed work"
    parameter_name = "failed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the two kinds."""
        return [("open", "Failed, not dismissed"), ("dismissed", "Failed and dismissed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        """Return failed documents of the chosen kind."""
        if self.value() not in ("open", "dismissed"):
            return queryset
        is_open = self.value() == "open"
        return queryset.filter(status=Status.FAILED, failure_dismissed_at__isnull=is_open)


@admin.register(Document)
class DocumentAdmin(RecordPages, ModelAdmin):  # type: ignore[misc]
    """Documents of all workspaces, to look after, not to read."""

    list_display = ["name", "workspace", "external_user_id", "state", "file_type", "pages", "created_at"]
    list_filter = [FailureFilter, "status", "file_type", WorkspaceFilter]
    search_fields = ["name", "workspace__name", "workspace__personal_of__email", "external_user_id", "id"]
    list_select_related = ["workspace", "workspace__personal_of"]
    list_per_page = 50
    list_max_show_all = AT_ONCE
    list_disable_select_all = True
    actions = ["reprocess_selected", "cancel_selected", "dismiss_selected"]
    show_full_result_count = False
    delete_confirmation_template = "admin/delete_records.html"
    delete_selected_confirmation_template = "admin/delete_records.html"
    tabs = [
        Tab("overview", "Overview", "kb/admin/overview.html"),
        Tab("quality", "Quality", "kb/admin/quality.html"),
        Tab("events", "Events", "kb/admin/events.html"),
        Tab("raw", "Raw", "kb/admin/raw.html"),
    ]
    buttons = [
        RecordButton("reprocess", "Reprocess", "change"),
        RecordButton("cancel", "Cancel", "change"),
        RecordButton("delete", "Delete…", "delete", is_dangerous=True, is_link=True),
    ]

    # --- The list ----------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Return documents of every tenant: the admin panel is for staff and its changes are logged."""
        return Document.unscoped.defer("quality", "metadata", "activity").order_by("-created_at", "id")

    @admin.display(description="state", ordering="status")
    def state(self, document: Document) -> str:
        """Return the state in words, with the error's code."""
        words = STATUS_WORDS[Status(document.status)]
        return f"{words}: {document.error_code.replace('_', ' ')}" if document.error_code else words

    @admin.display(description="pages", ordering="page_count")
    def pages(self, document: Document) -> int | None:
        """Return how many pages it has."""
        return document.page_count

    # --- The page ----------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        """Add the buttons' addresses."""
        own = [
            self.record_path("reprocess", self.reprocess_view),
            self.record_path("cancel", self.cancel_view),
        ]
        return own + list(super().get_urls())

    def shown_buttons(self, request: HttpRequest, obj: Document) -> list[RecordButton]:
        """Return Cancel only while there is something to cancel, and Reprocess only afterwards."""
        unfit = "cancel" if obj.is_finished else "reprocess"
        return [button for button in self.buttons if button.name != unfit]

    def tab_context(self, request: HttpRequest, obj: Document, tab: str) -> dict[str, Any]:
        """Return what a tab shows."""
        if tab == "quality":
            return {"report": report_of(obj), "hidden_parts": hidden_parts(obj)}
        if tab == "events":
            return {"moments": moments_of(obj), "jobs": jobs_of(obj)}
        if tab == "raw":
            return {"raw": json.dumps(fields_of(obj), indent=2, ensure_ascii=False, cls=DjangoJSONEncoder)}
        return {"document": obj, "facts": facts_of(request, obj), "state": STATUS_WORDS[Status(obj.status)]}

    def reprocess_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Queue the document's ingestion again."""
        document = self.posted_row(request, object_id, "change")
        self._reprocess(request, [document])
        return HttpResponseRedirect(self.address("change", document))

    def cancel_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Cancel the document's ingestion."""
        document = self.posted_row(request, object_id, "change")
        self._cancel(request, [document])
        return HttpResponseRedirect(self.address("change", document))

    # --- Actions of the list -----------------------------------------------------------------------------

    @admin.action(description="Reprocess", permissions=["change"])
    def reprocess_selected(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Queue the documents' ingestion again."""
        self._reprocess(request, queryset[:AT_ONCE])

    @admin.action(description="Cancel", permissions=["change"])
    def cancel_selected(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Cancel the documents' ingestion."""
        self._cancel(request, queryset.exclude(status__in=FINISHED)[:AT_ONCE])

    @admin.action(description="Dismiss the failure", permissions=["change"])
    def dismiss_selected(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Take failed documents from the page of failed work; they stay failed for their owners."""
        failed = list(queryset.filter(status=Status.FAILED, failure_dismissed_at=None)[:AT_ONCE])
        dismiss_failures(self, request, failed)

    def _reprocess(self, request: HttpRequest, documents: Iterable[Document]) -> None:
        queued = 0
        for document in documents:
            try:
                reprocess(document)
            except LocusError as error:
                self.message_user(request, f"“{document.name}”: {error.message}", messages.WARNING)
                continue
            queued += 1
            self.note_change(request, document, "Queued to be processed again", change="reprocessed")
        self.message_user(request, f"{_counted(queued)} queued to be processed again.", messages.SUCCESS)

    def _cancel(self, request: HttpRequest, documents: Iterable[Document]) -> None:
        cancelled = 0
        for document in documents:
            cancel(document)
            cancelled += 1
            self.note_change(request, document, "Ingestion cancelled", change="cancelled")
        self.message_user(request, f"{_counted(cancelled)} cancelled.", messages.SUCCESS)

    def note_change(self, request: HttpRequest, document: Document, words: str, **details: Any) -> None:
        """Record a change in the audit log and in the panel's history."""
        assert isinstance(request.user, User)
        record(
            AuditAction.DOCUMENT_CHANGED,
            request.user,
            workspace_id=document.workspace_id,
            target=("document", document.pk),
            by="administrator",
            **details,
        )
        self.log_change(request, document, f"{words}.")

    # --- Deletion ----------------------------------------------------------------------------------------

    def get_deleted_objects(
        self, objs: Iterable[Document], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return some names and the counts: a list would name each chunk and vector."""
        documents = list(objs)
        counts = {
            "documents": len(documents),
            "chunks": sum(document.chunk_count for document in documents),
            "bytes": sum(document.size for document in documents),
        }
        names = [document.name for document in documents[:NAMED]]
        more = len(documents) - len(names)
        lacking = set() if self.has_delete_permission(request) else {"document"}
        too_many = [f"Delete at most {AT_ONCE} documents at once."] if len(documents) > AT_ONCE else []
        lines = [*names, *([f"and {more:,} more"] if more else []), in_words(counts)]
        return lines, counts, lacking, too_many

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        """Delete with everything that belongs to the document, its file included."""
        self._delete(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        """Delete each with everything that belongs to it."""
        self._delete(request, list(queryset))

    def _delete(self, request: HttpRequest, documents: list[Document]) -> None:
        assert isinstance(request.user, User)
        receipt = delete_documents(document.pk for document in documents)
        for document in documents:
            record(
                AuditAction.DOCUMENT_DELETED,
                request.user,
                workspace_id=document.workspace_id,
                target=("document", document.pk),
                by="administrator",
                chunks=document.chunk_count,
                bytes=document.size,
            )
        self._show_receipt(request, receipt)

    def _show_receipt(self, request: HttpRequest, receipt: Receipt) -> None:
        scrubbed = receipt.scrubbed.get("executions", 0)
        answers = f" Its words were removed from {scrubbed:,} stored answers." if scrubbed else ""
        self.message_user(request, f"Deleted: {in_words(receipt.counts)}.{answers}", messages.INFO)


def dismiss_failures(site: DocumentAdmin, request: HttpRequest, documents: list[Document]) -> None:
    """Take failed documents from the page of failed work."""
    rows = Document.unscoped.filter(pk__in=[document.pk for document in documents], status=Status.FAILED)
    rows.update(failure_dismissed_at=timezone.now())
    for document in documents:
        site.note_change(request, document, "Failure dismissed", change="failure dismissed")
    site.message_user(request, f"{_counted(len(documents))} dismissed.", messages.SUCCESS)


def _counted(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"
