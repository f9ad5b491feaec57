"""Documents and embedding spaces in the admin panel."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from kb.document_admin import DocumentAdmin
from kb.models import EmbeddingSpace

__all__ = ["DocumentAdmin", "EmbeddingSpaceAdmin"]


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
