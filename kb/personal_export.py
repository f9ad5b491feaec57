"""The documents of a person's own workspace, for the export of their data."""

from __future__ import annotations

from collections.abc import Iterator

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.people.export import lines
from core.errors import NotFound
from core.http.zip_stream import PART_BYTES, Member
from core.text.visible_text import one_line
from kb import representations
from kb.documents import original_file
from kb.models import Document


def export_documents(user: User) -> Iterator[Member]:
    """Yield the list of the documents, and their original files."""
    principal = principal_of_user(user)
    documents = Document.objects.addressable_by(principal).filter(workspace=user.personal_workspace)
    yield (
        "documents.jsonl",
        lines(documents, lambda row: representations.Document.of(row).model_dump(mode="json")),
    )
    for id in list(documents.order_by("pk").values_list("pk", flat=True)):
        document = documents.filter(pk=id).first()
        if document is not None:
            yield from _file_of(document)


def _file_of(document: Document) -> Iterator[Member]:
    name = one_line(document.name).replace("/", "_").replace("\\", "_").strip(". ")[:150] or "document"
    try:
        file = original_file(document)
        with file.storage.open(file.name) as stored:
            yield f"documents/{document.pk}/{name}", stored.chunks(PART_BYTES)
    except (NotFound, FileNotFoundError):
        return
