"""Recognised units in the storage: a worker that dies loses one unit, not hours of work.

Each unit is an object of its own, beside the document's file: an object store can't append. Any worker of any
host goes on from them, and they go with the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from core.errors import DocumentError
from extract.base import Element, UnitRead
from extract.sandbox.lines import dump_finding
from extract.sandbox.wire import ProtocolError, read_line
from kb.documents import document_folder

# Raise it when extractors yield something else for the same file.
VERSION = 3
PREFIX = "reading-"


class Checkpoint:
    """The units that were recognised of one content, by one version of the extractors."""

    def __init__(self, document_id: UUID, sha256: str) -> None:
        self._folder = document_folder(document_id)
        self._prefix = f"{PREFIX}{VERSION}-{sha256[:16]}-"

    def units(self) -> Iterator[tuple[list[Element], UnitRead]]:
        """Yield each completely recognised unit with its elements, in the order of their numbers."""
        for name in sorted(self._names(self._prefix)):
            with default_storage.open(f"{self._folder}/{name}") as file:
                elements, read = _parse(file.read())
            if read is not None:
                yield elements, read

    def add(self, elements: Sequence[Element], read: UnitRead) -> None:
        """Store a unit."""
        lines = b"".join([*map(dump_finding, elements), dump_finding(read)])
        default_storage.save(f"{self._folder}/{self._prefix}{read.number:06d}", ContentFile(lines))

    def clear(self) -> None:
        """Delete the document's units, of earlier contents too."""
        for name in self._names(PREFIX):
            default_storage.delete(f"{self._folder}/{name}")

    def _names(self, prefix: str) -> list[str]:
        try:
            names = default_storage.listdir(self._folder)[1]
        except FileNotFoundError:
            return []
        return [name for name in names if name.startswith(prefix)]


def _parse(lines: bytes) -> tuple[list[Element], UnitRead | None]:
    """Return a unit, or None in its place if its worker died while it wrote."""
    elements: list[Element] = []
    for line in lines.splitlines(keepends=True):
        try:
            finding = read_line(line)
        except (ProtocolError, DocumentError):
            break
        if isinstance(finding, Element):
            elements.append(finding)
        elif isinstance(finding, UnitRead):
            return elements, finding
    return elements, None
