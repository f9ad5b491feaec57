"""The documents list's filters. One that can't match is refused: an empty list would look like an answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from accounts.principal import Principal
from core.api.operations import LIST_PARAMETERS
from core.api.rest import CursorLists, json_param, uuid_param
from core.errors import Conflict, NotFound, ValidationError
from kb.documents import documents_by_id
from kb.metadata import metadata_condition
from kb.models import Document, Status

ORDERINGS = frozenset({"created_at", "name", "size", "updated_at"})
MAX_IDS = 200
_DATES = ("created_after", "created_before", "updated_after", "updated_before")

DOCUMENT_FILTERS = [
    OpenApiParameter("workspace_id", OpenApiTypes.UUID),
    OpenApiParameter("workspace", OpenApiTypes.UUID, description="Another name of `workspace_id`."),
    OpenApiParameter("status", str, enum=Status.values),
    OpenApiParameter("type", str, description="The `file_type`, such as `pdf`."),
    OpenApiParameter("tag", str),
    OpenApiParameter("language", str, description="ISO 639-1."),
    OpenApiParameter("search", str, description="Text in the name."),
    OpenApiParameter("id", OpenApiTypes.UUID, many=True, description=f"These documents: at most {MAX_IDS}."),
    OpenApiParameter("external_id", str, description="Your own id, as given with the upload."),
    OpenApiParameter(
        "metadata",
        str,
        description='A JSON object as in `filters.metadata` of a search: `{"year": [2023, 2024]}`.',
    ),
    *(
        OpenApiParameter(name, OpenApiTypes.DATETIME, description="ISO 8601; without a zone it is UTC.")
        for name in _DATES
    ),
    OpenApiParameter("attached_to", OpenApiTypes.UUID, description="What came inside this document."),
    OpenApiParameter("ordering", str, enum=sorted(ORDERINGS) + sorted(f"-{name}" for name in ORDERINGS)),
    *LIST_PARAMETERS,
]


class DocumentFilter(django_filters.FilterSet):
    """Filters that are conditions on columns."""

    status = django_filters.ChoiceFilter(field_name="status", choices=Status.choices)
    type = django_filters.CharFilter("file_type")
    tag = django_filters.CharFilter(method="by_tag")
    language = django_filters.CharFilter("language", lookup_expr="iexact")
    search = django_filters.CharFilter("name", lookup_expr="icontains")
    external_id = django_filters.CharFilter("external_id")
    created_after = django_filters.IsoDateTimeFilter("created_at", lookup_expr="gte")
    created_before = django_filters.IsoDateTimeFilter("created_at", lookup_expr="lt")
    updated_after = django_filters.IsoDateTimeFilter("updated_at", lookup_expr="gte")
    updated_before = django_filters.IsoDateTimeFilter("updated_at", lookup_expr="lt")
    attached_to = django_filters.UUIDFilter("attached_to_id")

    def by_tag(self, documents: QuerySet[Document], name: str, value: str) -> QuerySet[Document]:
        """Return the documents that carry the tag."""
        return documents.filter(tags__contains=[value])


class DocumentLists(CursorLists):
    """Documents, newest first unless `?ordering=` says otherwise."""

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """Return the ordering the request names, made total by the id."""
        wanted = request.query_params.get("ordering", "-created_at")
        if wanted.removeprefix("-") not in ORDERINGS or wanted.startswith("--"):
            raise ValidationError(
                f"ordering must be one of {', '.join(sorted(ORDERINGS))}.", param="ordering"
            )
        return (wanted, "id")


def filtered_documents(principal: Principal, query: QueryDict) -> QuerySet[Document]:
    """Return the documents that the principal may list and that meet every filter of a query.

    Raise `ValidationError` for a filter that no document can meet, and `NotFound` for a workspace or document
    that the principal does not see.
    """
    form = DocumentFilter(query, Document.objects.restricted_to(principal))
    if not form.is_valid():
        raise serializers.ValidationError(form.errors)
    documents = form.qs
    if (workspace_id := _visible_workspace(principal, query)) is not None:
        documents = documents.filter(workspace_id=workspace_id)
    if (attached_to := query.get("attached_to")) is not None:
        _require_visible(principal, "attached_to", uuid_param("attached_to", attached_to))
    if ids := query.getlist("id"):
        documents = documents.filter(pk__in=_visible_ids(principal, ids))
    if (metadata := query.get("metadata")) is not None:
        documents = documents.filter(metadata_condition(json_param("metadata", metadata)))
    return documents


def _visible_workspace(principal: Principal, query: QueryDict) -> UUID | None:
    """Return the workspace that a query names by either of its names, if it does."""
    given = [(name, query.get(name)) for name in ("workspace_id", "workspace")]
    named = [(name, value) for name, value in given if value is not None]
    if len({value for _, value in named}) > 1:
        raise Conflict("workspace and workspace_id are the same; give one of them.", param="workspace")
    for name, value in named:
        id = uuid_param(name, value)
        if id not in principal.roles:
            raise NotFound(f"There is no workspace {id} that you can see.", param=name)
        return id
    return None


def _visible_ids(principal: Principal, given: list[str]) -> list[UUID]:
    if len(given) > MAX_IDS:
        raise ValidationError(f"At most {MAX_IDS} ids.", param="id")
    ids = [uuid_param("id", id) for id in given]
    documents_by_id(principal, ids, param="id")
    return ids


def _require_visible(principal: Principal, param: str, id: UUID) -> None:
    if not Document.objects.addressable_by(principal).filter(pk=id).exists():
        raise NotFound(f"There is no document {id} that you can see.", param=param)
