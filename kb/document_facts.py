"""What the admin panel says about a document, in words and without the document's own."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.http import HttpRequest
from django.urls import reverse

from accounts.access.identity import principal_of_user
from accounts.admin_records import RecordFact
from accounts.models import User
from core.languages.numbers import size_in_words
from kb.models import Document, Searchable, Status
from kb.representations import QualityReport

STATUS_WORDS = {
    Status.QUEUED: "Waits for the worker",
    Status.EXTRACTING: "Being read",
    Status.INDEXING: "Being indexed",
    Status.READY: "Ready",
    Status.PARTIAL: "Ready, but parts of it could not be read",
    Status.FAILED: "Failed",
    Status.CANCELLED: "Cancelled",
}
SEARCHABLE_WORDS = {
    Searchable.NONE: "Not found by any search",
    Searchable.WORDS: "Found by words, not yet by meaning",
    Searchable.FULL: "Found by words and by meaning",
}


def facts_of(request: HttpRequest, document: Document) -> list[RecordFact]:
    """Return where a document is, whose it is, and how large; what is empty is left out."""
    facts = [
        RecordFact("Workspace", document.workspace, admin_link(request, document.workspace)),
        RecordFact("External user", document.external_user_id),
        RecordFact("Uploaded by", document.uploaded_by, admin_link(request, document.uploaded_by)),
        RecordFact("Attached to a conversation", document.session_id),
        RecordFact("Found inside", document.attached_to, admin_link(request, document.attached_to)),
        RecordFact("Web page", document.url),
        RecordFact("Kind", " · ".join(filter(None, [document.file_type, document.mime_type]))),
        RecordFact("Size", size_in_words(document.size)),
        RecordFact("Pages, slides or images", document.page_count),
        RecordFact("Length", f"{document.duration:,.0f} seconds" if document.duration else None),
        RecordFact("Chunks", f"{document.chunk_count:,}"),
        RecordFact("Language", document.language),
        RecordFact("Tags", ", ".join(document.tags)),
        RecordFact("Search", SEARCHABLE_WORDS[Searchable(document.searchable)]),
        RecordFact("Added", moment(document.created_at)),
        RecordFact("Last change", moment(document.updated_at)),
        RecordFact("In the product", *_product_page(request, document)),
        RecordFact("Id", document.pk),
    ]
    return [fact for fact in facts if fact.value not in (None, "")]


def moment(value: Any) -> str:
    """Return a time as the panel shows it, with its zone."""
    return f"{value:%Y-%m-%d %H:%M:%S} UTC"


def admin_link(request: HttpRequest, row: Any) -> str:
    """Return the address of a row's page in the panel if the user may open it, else nothing."""
    site = (
        admin.site.get_model_admin(type(row))
        if row is not None and admin.site.is_registered(type(row))
        else None
    )
    if site is None or not site.has_view_permission(request, row):
        return ""
    return reverse(f"admin:{site.opts.app_label}_{site.opts.model_name}_change", args=[quote(row.pk)])


def report_of(document: Document) -> dict[str, Any]:
    """Return the quality report without excerpts of hidden text, which are the document's words."""
    report = QualityReport.of(document).as_json()
    return report | {"hidden": []}


def hidden_parts(document: Document) -> int:
    """Return in how many pages or parts readers can't see some of the text."""
    return len((document.quality or {}).get("hidden", []))


def fields_of(document: Document) -> dict[str, Any]:
    """Return the fields of a document's row, without the words of the document in its quality report."""
    fields = {field.attname: getattr(document, field.attname) for field in document._meta.concrete_fields}
    if document.quality:
        fields["quality"] = document.quality | {
            "hidden": [{**part, "excerpt": "(not shown)"} for part in document.quality.get("hidden", [])]
        }
    return fields | {"file": document.file.name}


def _product_page(request: HttpRequest, document: Document) -> tuple[str, str]:
    """Return words and the address of the document's page, for a member of its workspace."""
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    if Document.objects.addressable_by(principal).filter(pk=document.pk).exists():
        return "Open the document", reverse("document", args=[document.pk])
    return "Only members of its workspace can open it", ""
