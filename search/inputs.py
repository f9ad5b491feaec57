"""What a question may come with, the same for `POST search` and for `rag_search` (contract §3, §5)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import langcodes
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, field_validator

from accounts.principal import Principal
from core.api.validation import Moment
from core.errors import NotFound, ValidationError
from kb.collections import collections_by_id
from kb.documents import documents_by_id
from kb.metadata import MAX_FILTER_CHARS, MAX_FILTER_KEYS, MAX_FILTER_VALUES, checked_metadata_filter
from kb.models import Document
from search.questions import Filters, Question


def _language(value: str) -> str:
    """Return the code by which documents carry a language: `en` for `en`, `EN` and `eng`."""
    try:
        return langcodes.standardize_tag(value)
    except ValueError:
        raise ValueError("must be an ISO 639 code") from None


def _not_blank(query: str) -> str:
    if not query.strip():
        raise ValueError("must not be blank")
    return query


MOST_QUERY_CHARS = 2000
QueryText = Annotated[str, Field(min_length=1, max_length=MOST_QUERY_CHARS), AfterValidator(_not_blank)]
Word = Annotated[str, Field(min_length=1, max_length=100)]
Words = Annotated[list[Word], Field(min_length=1, max_length=100)]
Language = Annotated[
    Word, BeforeValidator(lambda value: _language(value) if isinstance(value, str) else value)
]
SCALAR: dict[str, JsonValue] = {"type": ["string", "number", "boolean"], "maxLength": MAX_FILTER_CHARS}


class FiltersInput(BaseModel):
    """Which documents count, all conditions together."""

    model_config = ConfigDict(extra="forbid")

    tags: Words | None = Field(None, description="Documents with any of these tags.")
    metadata: dict[str, JsonValue] | None = Field(
        None,
        min_length=1,
        max_length=MAX_FILTER_KEYS,
        description="Documents whose metadata has each of these keys with this value, or one of these.",
        json_schema_extra={
            "propertyNames": {"maxLength": MAX_FILTER_CHARS},
            "additionalProperties": {
                "anyOf": [
                    SCALAR,
                    {"type": "array", "items": SCALAR, "minItems": 1, "maxItems": MAX_FILTER_VALUES},
                ]
            },
        },
    )
    created_after: Moment | None = Field(None, description="Documents added then or later.")
    created_before: Moment | None = Field(None, description="Documents added earlier than that.")
    kinds: Words | None = Field(
        None, description="Documents of any of these kinds: their `file_type`, as `pdf`."
    )
    languages: Annotated[list[Language], Field(min_length=1, max_length=100)] | None = Field(
        None, description="Documents in any of these languages: ISO 639 codes, as `en`."
    )

    collection_ids: list[UUID] | None = Field(
        None, min_length=1, max_length=100, description="Documents in any of these collections."
    )

    @field_validator("metadata")
    @classmethod
    def _values(cls, metadata: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        if metadata is not None:
            try:
                checked_metadata_filter(metadata)
            except ValidationError as error:
                raise ValueError(error.message.removeprefix("metadata: ").removesuffix(".")) from None
        return metadata

    def filters(self) -> Filters:
        """Return the filters as retrieval takes them."""
        return Filters(
            tags=tuple(self.tags or ()),
            metadata=tuple((key, tuple(_as_list(values))) for key, values in (self.metadata or {}).items()),
            created_after=self.created_after,
            created_before=self.created_before,
            kinds=tuple(self.kinds or ()),
            languages=tuple(self.languages or ()),
            collection_ids=tuple(self.collection_ids or ()),
        )


def _as_list(values: JsonValue) -> list[JsonValue]:
    return values if isinstance(values, list) else [values]


class DocumentScope(BaseModel):
    """To which documents a question is narrowed."""

    model_config = ConfigDict(extra="forbid")

    document_ids: list[UUID] | None = Field(
        None, max_length=1000, description="Search only these documents; an empty list searches nothing."
    )
    workspace_ids: list[UUID] | None = Field(
        None, max_length=100, description="Search only these workspaces; by default all you may read."
    )
    filters: FiltersInput | None = Field(None, description="Search only documents that meet all of these.")

    def check_visible(self, principal: Principal) -> None:
        """Raise `NotFound` naming the first thing that the principal can't see."""
        documents_by_id(principal, self.document_ids or [])
        if self.filters and self.filters.collection_ids:
            collections_by_id(principal, self.filters.collection_ids, param="filters.collection_ids")
        for index, id in enumerate(self.workspace_ids or []):
            if id not in principal.roles:
                raise NotFound(
                    f"There is no workspace {id} that you can see.", param=f"workspace_ids[{index}]"
                )

    def question_about(self, query: str) -> Question:
        """Return a question within this scope as retrieval takes it."""
        return Question(
            query,
            None if self.document_ids is None else tuple(self.document_ids),
            None if self.workspace_ids is None else tuple(self.workspace_ids),
            self.filters.filters() if self.filters else Filters(),
        )


class QuestionInput(DocumentScope):
    """A question, and to what it is narrowed."""

    query: QueryText = Field(description="The question, as specific as possible.")

    def question(self) -> Question:
        """Return the question as retrieval takes it."""
        return self.question_about(self.query)


def searched_workspaces(principal: Principal, inputs: DocumentScope) -> set[UUID]:
    """Return the workspaces whose documents a search looks through."""
    if inputs.document_ids is not None:
        named = Document.objects.addressable_by(principal).filter(pk__in=inputs.document_ids)
        return set(named.values_list("workspace_id", flat=True))
    return set(principal.workspace_ids if inputs.workspace_ids is None else inputs.workspace_ids)
