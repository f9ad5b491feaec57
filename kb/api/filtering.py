"""The documents list's filters. One that can't match is refused: an empty list would look like an answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema

from accounts.principal import Principal
from core.api.lists import ListQuery
from core.api.operations import ApiQuery
from core.api.rest import json_param
from core.api.validation import ApiModel, Moment
from core.errors import Conflict, NotFound
from kb.documents import documents_by_id
from kb.metadata import checked_metadata_filter, metadata_condition
from kb.models import Document, DocumentCollection, Status
from kb.scheduled_deletion import NOT_MARKED

MAX_IDS = 200


def _uuids(given: list[str]) -> list[UUID]:
    try:
        return [UUID(id) for id in given]
    except ValueError:
        raise ValueError("must be UUIDs") from None


def _metadata(given: object) -> dict[str, list[Any]]:
    """Return the conditions of a query, where they are JSON, or of a body, where they are an object."""
    return checked_metadata_filter(json_param("metadata", given) if isinstance(given, str) else given)


Word = Annotated[str, StringConstraints(strip_whitespace=True)]
Time = Annotated[Moment | None, Field(description="ISO 8601; without a zone it is UTC.")]


class DocumentFilter(ApiModel):
    """Which documents are meant: those that meet all conditions."""

    workspace_id: UUID | None = None
    workspace: UUID | None = Field(None, description="Another name of `workspace_id`.")
    status: Status | None = None
    type: Word | None = Field(None, description="The `file_type`, such as `pdf`.")
    tag: Word | None = None
    collection_id: UUID | None = Field(None, description="Documents in this collection.")
    language: Word | None = Field(None, description="ISO 639-1.")
    search: Word | None = Field(None, description="Text in the name.")
    id: Annotated[list[UUID], Field(max_length=MAX_IDS), BeforeValidator(_uuids)] = Field(
        default_factory=list, description=f"These documents: at most {MAX_IDS}."
    )
    external_id: str | None = Field(None, description="Your own id, as given with the upload.")
    metadata: Annotated[
        dict[str, list[Any]] | None, BeforeValidator(_metadata), WithJsonSchema({"type": "string"})
    ] = Field(
        None,
        description='A JSON object as in `filters.metadata` of a search: `{"year": [2023, 2024]}`.',
    )
    created_after: Time = None
    created_before: Time = None
    updated_after: Time = None
    updated_before: Time = None
    attached_to: UUID | None = Field(None, description="What came inside this document.")

    def documents(self, principal: Principal) -> QuerySet[Document]:
        """Return the documents that the principal may list and that meet every condition.

        Raise `NotFound` for a workspace, collection or document that the principal does not see.
        """
        documents_by_id(principal, self.id, param="id")
        if self.collection_id is not None and not _is_collection(principal, self.collection_id):
            raise NotFound(
                f"There is no collection {self.collection_id} that you can see.", param="collection_id"
            )
        if self.attached_to is not None:
            _require_visible(principal, self.attached_to)
        conditions = {
            "workspace_id": self._visible_workspace(principal),
            "status": self.status,
            "file_type": self.type,
            "tags__contains": self.tag and [self.tag],
            "collection_ids__contains": self.collection_id and [self.collection_id],
            "language__iexact": self.language,
            "name__icontains": self.search,
            "pk__in": self.id or None,
            "external_id": self.external_id,
            "created_at__gte": self.created_after,
            "created_at__lt": self.created_before,
            "updated_at__gte": self.updated_after,
            "updated_at__lt": self.updated_before,
            "attached_to_id": self.attached_to,
        }
        given = {name: value for name, value in conditions.items() if value is not None}
        documents = Document.objects.restricted_to(principal).filter(NOT_MARKED, **given)
        return documents.filter(metadata_condition(self.metadata)) if self.metadata else documents

    def _visible_workspace(self, principal: Principal) -> UUID | None:
        """Return the workspace that the query names by either of its names, if it does."""
        if self.workspace and self.workspace_id and self.workspace != self.workspace_id:
            raise Conflict("workspace and workspace_id are the same; give one of them.", param="workspace")
        id = self.workspace_id or self.workspace
        if id is not None and id not in principal.roles:
            param = "workspace_id" if self.workspace_id else "workspace"
            raise NotFound(f"There is no workspace {id} that you can see.", param=param)
        return id


class SummaryQuery(DocumentFilter, ApiQuery):
    """Which documents are counted."""


class DocumentQuery(DocumentFilter, ListQuery):
    """Which documents are listed, and in which order."""

    ordering: Literal[
        "created_at",
        "name",
        "size",
        "updated_at",
        "status",
        "type",
        "-created_at",
        "-name",
        "-size",
        "-updated_at",
        "-status",
        "-type",
    ] = "-created_at"

    @property
    def columns(self) -> tuple[str, str]:
        """The columns of the ordering, which is total."""
        return self.ordering.replace("type", "file_type"), "id"


def _is_collection(principal: Principal, id: UUID) -> bool:
    return DocumentCollection.objects.addressable_by(principal).filter(pk=id).exists()


def _require_visible(principal: Principal, id: UUID) -> None:
    if not Document.objects.addressable_by(principal).filter(pk=id).exists():
        raise NotFound(f"There is no document {id} that you can see.", param="attached_to")
