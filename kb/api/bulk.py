"""`/api/v1/documents/bulk`: one action on many documents, in steps of at most `AT_ONCE`."""

from __future__ import annotations

from typing import Annotated, Self
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.principal import Principal
from accounts.roles import Role
from core.api.operations import ReadBody, operation
from core.api.validation import ABSENT, ApiModel
from core.errors import ValidationError
from kb.api.filtering import DocumentFilter
from kb.api.limits import refuse_beyond_quota
from kb.api.uploads import MAX_TAG, MAX_TAGS, checked_tags
from kb.bulk import BulkAction, BulkActionName, BulkOutcome, change_many
from kb.collections import collection_to_fill
from kb.documents import documents_by_id
from kb.models import Document
from kb.representations import DeletedCounts, DocumentFailure

AT_ONCE = 100
"""So many documents one request changes: it ends within seconds, and a client can show how far it is."""
NEEDS = {
    "add_tags": "tags",
    "remove_tags": "tags",
    "move": "workspace_id",
    "add_to_collection": "collection_id",
    "remove_from_collection": "collection_id",
}
Tag = Annotated[str, Field(max_length=MAX_TAG)]


class BulkRequest(ApiModel):
    """Which documents, and what to do with them."""

    ids: list[UUID] | None = Field(None, min_length=1, max_length=AT_ONCE)
    filter: DocumentFilter | None = Field(
        None, description="The conditions of the list, in place of `ids`: `{}` means all documents."
    )
    after: UUID | None = Field(
        None, description="With `filter`: go on after this document, which was `next` of the last reply."
    )
    action: BulkActionName
    tags: Annotated[list[Tag], Field(min_length=1, max_length=MAX_TAGS), AfterValidator(checked_tags)] = (
        ABSENT
    )
    workspace_id: UUID = ABSENT
    collection_id: UUID = ABSENT
    delay_secs: int = Field(
        0,
        ge=0,
        le=3600,
        description="With `delete`: so long the deletion can be undone by `restore`. "
        "Until then the documents are in no list and no search.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.ids is None) == (self.filter is None):
            raise ValidationError("Send ids or filter, one of them.", param="ids")
        if self.after is not None and self.filter is None:
            raise ValidationError("after belongs to filter.", param="after")
        for name in ("tags", "workspace_id", "collection_id"):
            if (getattr(self, name) is not None) != (NEEDS.get(self.action) == name):
                needs = "needs" if NEEDS.get(self.action) == name else "does not take"
                raise ValidationError(f"The action {self.action} {needs} {name}.", param=name)
        if self.delay_secs and self.action != "delete":
            raise ValidationError("Only deletions can be delayed.", param="delay_secs")
        return self

    def documents(self, principal: Principal) -> tuple[list[Document], UUID | None]:
        """Return the documents of this step, and after which to go on; None if these were the last.

        Raise `NotFound` for an id that the principal does not see.
        """
        if self.ids is not None:
            return list(documents_by_id(principal, dict.fromkeys(self.ids), param="ids").values()), None
        assert self.filter is not None
        rows = self.filter.documents(principal)
        rows = rows.filter(pk__gt=self.after) if self.after else rows
        found = list(rows.order_by("pk")[: AT_ONCE + 1])
        step = found[:AT_ONCE]
        return step, step[-1].pk if len(found) > len(step) else None


class BulkReceipt(ApiModel):
    """What a bulk request has done."""

    changed: list[UUID]
    failed: list[DocumentFailure]
    deleted: DeletedCounts = ABSENT
    next: UUID | None = Field(description="With `filter`: send this as `after` for the next step, if any.")

    @classmethod
    def of(cls, outcome: BulkOutcome, next: UUID | None, action: BulkAction) -> Self:
        """Return what an outcome has come to."""
        failed = [
            DocumentFailure(id=id, code=error.code, message=error.message) for id, error in outcome.failed
        ]
        receipt = cls(changed=outcome.changed, failed=failed, next=next)
        if action.name == "delete" and not action.delay_secs:
            receipt.deleted = DeletedCounts(**outcome.receipt.counts)
        return receipt


class DocumentsBulkView(APIView):
    """Change many documents."""

    @operation(
        "documents_bulk",
        tag="Documents",
        body=BulkRequest,
        answers={200: BulkReceipt},
        fails=(404,),
    )
    def post(self, request: Request, read_body: ReadBody[BulkRequest]) -> BulkReceipt:
        """Tag, collect, move, process again, cancel or delete documents: at most 100 a request.

        Rights are checked for each document; what fails for one is in `failed`, and the others are changed.
        A filter may match more: send the request again with `after`, until `next` is null. A deletion is at
        once and for good unless it has `delay_secs`.
        """
        principal = principal_of(request)
        body = read_body()
        collection = collection_to_fill(principal, body.collection_id) if body.collection_id else None
        action = BulkAction(body.action, body.tags or (), body.workspace_id, collection, body.delay_secs)
        if action.workspace_id is not None:
            principal.require_workspace(action.workspace_id, Role.EDITOR)
        documents, next = body.documents(principal)
        if action.name == "reprocess":
            for workspace_id in {document.workspace_id for document in documents}:
                here = sum(document.workspace_id == workspace_id for document in documents)
                refuse_beyond_quota(principal, workspace_id, here)
        return BulkReceipt.of(change_many(principal, documents, action), next, action)
