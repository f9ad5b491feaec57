"""Files inside a file, such as the attachments of an e-mail: they become documents in the same workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.core.files.base import File

from core.errors import QuotaExceeded
from extract.base import Attached, Warned
from kb.documents import attach
from kb.models import Document

# An e-mail in an e-mail in an e-mail may be a forwarded letter; deeper nesting is a trap.
DEEPEST = 3


def add_attachments(document: Document, attached: Sequence[Attached], folder: Path) -> Iterator[Warned]:
    """Add the files that an extractor has put into `folder`; yield a warning for each file left out."""
    if attached and _depth(document) >= DEEPEST:
        yield Warned(
            "attachments_left_out",
            "This document is nested too deeply in other e-mails: its attachments were not read.",
        )
        return
    for file in attached:
        path = folder / file.stored
        if path.is_symlink() or not path.is_file() or path.stat().st_size > settings.MAX_UPLOAD_BYTES:
            yield Warned("attachments_left_out", f"The attachment “{file.name[:200]}” was not read.")
            continue
        with path.open("rb") as content:
            try:
                attach(document, file.name, File(content, name=file.name))
            except QuotaExceeded as refusal:
                yield Warned(
                    "attachments_left_out",
                    f"The attachment “{file.name[:200]}” was not added. {refusal.message}",
                )


def _depth(document: Document) -> int:
    depth, above = 0, document.attached_to_id
    while above is not None and depth < DEEPEST:
        above = Document.unscoped.filter(pk=above).values_list("attached_to_id", flat=True).first()
        depth += 1
    return depth
