"""Recognised units on disk: a worker that dies loses one unit, not hours of work."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

from django.conf import settings

from core.errors import DocumentError
from extract.base import Element, UnitRead
from extract.sandbox.lines import dump_finding
from extract.sandbox.wire import ProtocolError, read_line

# Raise it when extractors yield something else for the same file.
VERSION = 2


class Checkpoint:
    """A file of findings as lines, restarted for other content or another version."""

    def __init__(self, document_id: UUID, sha256: str) -> None:
        self._path = Path(settings.DATA_DIR) / "cache" / "readings" / f"{document_id}.jsonl"
        self._title = json.dumps([VERSION, sha256]).encode() + b"\n"

    def units(self) -> Iterator[tuple[list[Element], UnitRead]]:
        """Yield each completely recognised unit with its elements."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            if file.readline() != self._title:
                return
            elements: list[Element] = []
            for line in file:
                try:
                    finding = read_line(line)
                except (ProtocolError, DocumentError):
                    return  # the line that was being written when the worker died
                if isinstance(finding, Element):
                    elements.append(finding)
                elif isinstance(finding, UnitRead):
                    yield elements, finding
                    elements = []

    def begin(self, units: Sequence[tuple[Sequence[Element], UnitRead]]) -> None:
        """Replace the file by these units."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(self._title)
        for elements, read in units:
            self.add(elements, read)

    def add(self, elements: Sequence[Element], read: UnitRead) -> None:
        """Append a unit."""
        with self._path.open("ab") as file:
            file.writelines([*map(dump_finding, elements), dump_finding(read)])

    def clear(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)
