"""From a document's URL to its file; the later steps are those of an upload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile

from core.errors import DocumentError, QuotaExceeded
from core.fetch import default_limits, fetch_blocking
from ingestion.progress import Superseded
from kb.documents import store_fetched
from kb.models import Document


class NoStorageLeft(DocumentError):
    """The workspace's quota of storage has no room for the fetched page."""

    code, default_message = "too_large", "The workspace has no storage left for this page."


def fetch_document(document: Document, checkpoint: Callable[[], None] = lambda: None) -> None:
    """Fetch `document.url` and make the response the document's file, with size, sha256, type and name.

    `checkpoint` is called twice a second; an exception from it ends the fetch. The earlier file stays until
    the new one is complete. Raises `FetchError`, `NoStorageLeft`, and `Superseded` if the document is gone.
    """
    limits = default_limits()
    limits = replace(limits, max_bytes=min(limits.max_bytes, settings.MAX_UPLOAD_BYTES))
    with TemporaryUploadedFile("page", "", 0, None) as page:
        fetched = fetch_blocking(document.url, page, limits=limits, checkpoint=checkpoint)
        page.flush()
        page.size = fetched.size
        try:
            is_there = store_fetched(document, page, fetched.mime_type)
        except QuotaExceeded as refusal:
            raise NoStorageLeft(refusal.message) from None
        if not is_there:
            raise Superseded
