"""Documents and embedding spaces in the admin panel."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from kb.document_admin import DocumentAdmin
from kb.models import ChunkVector, EmbeddingSpace

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

    def get_deleted_objects(
        self, objs: Iterable[EmbeddingSpace], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return the spaces and how many vectors they have: a list would name each. The active one stays."""
        spaces = list(objs)
        counts = {"vectors": ChunkVector.objects.filter(space__in=spaces).count()}
        lacking = set() if self.has_delete_permission(request) else {"embedding space"}
        active = [f"{space} is active: without it nothing is found." for space in spaces if space.is_active]
        return [str(space) for space in spaces], counts, lacking, active
