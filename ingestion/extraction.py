"""The extracted units of a document's file.

The text in the file is read first. Text that only a model can read, the words of a scan or a recording, is
recognised afterwards. It replaces what its unit held before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from django.conf import settings

from core.errors import DocumentError
from core.fetch import name_of_url
from core.locations import PageBox
from extract.base import (
    Attached,
    Element,
    Finding,
    Kind,
    Opened,
    Pictured,
    TextOrigin,
    UnitRead,
    Warned,
)
from extract.kinds import KINDS, code_suffix, has_pictures, is_misnamed, promised_type
from extract.sandbox.parent import SandboxLimits, extract
from ingestion.checkpoint import Checkpoint
from ingestion.pictures import Description
from ingestion.progress import ProgressWriter
from ingestion.speakers.model import voice_graph
from kb.models import Document, Modality, Stage
from kb.pictures import is_multimodal

UNIT_NAMES = dict.fromkeys(("pptx", "ppt", "odp"), "slide") | dict.fromkeys(
    ("xlsx", "xlsb", "xls", "ods"), "sheet"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """The elements of a page, or of a stretch of a recording, and their origin."""

    elements: list[Element]
    read: UnitRead


class ExtractionState:
    """The units of one file, and the warnings of its extraction."""

    def __init__(self, document: Document, path: Path, writer: ProgressWriter, attachments: Path) -> None:
        self.path = path
        self.opened: Opened | None = None
        self.units: dict[int, Unit] = {}
        self.warnings: list[Warned] = []
        self.attached: list[Attached] = []
        self.pictures: list[Pictured] = []
        self.descriptions: dict[PageBox, Description] = {}
        self._document, self._writer, self._attachments = document, writer, attachments
        self._checkpoint = Checkpoint(document.pk, document.sha256)

    @property
    def elements(self) -> list[Element]:
        """All elements visible to a reader of the document, in reading order."""
        units = (self.units[number] for number in sorted(self.units))
        return [found for unit in units for found in unit.elements if found.kind is not Kind.HIDDEN]

    @property
    def recognised(self) -> frozenset[int]:
        """The numbers of the units whose text was recognised in an image."""
        return frozenset(n for n, unit in self.units.items() if unit.read.source is TextOrigin.OCR)

    @property
    def pending(self) -> tuple[int, ...]:
        """The units that wait for recognition, ascending."""
        return tuple(sorted(n for n, unit in self.units.items() if unit.read.source is TextOrigin.PENDING))

    def read_text(self) -> None:
        """Read the text in the file; raise `DocumentError` if it can't be read at all."""
        findings = extract(
            self.path,
            _limits(),
            main_content=bool(self._document.url),
            promised=None if self._document.url else promised_type(self._document.name),
            suffix=None if self._document.url else code_suffix(self._document.name),
            attachments=self._attachments,
            while_waiting=self._writer.raise_if_stopped,
        )
        for read in self._store_findings(findings):
            self._writer.throttled_progress_or_stop(
                Stage.EXTRACTING, read.number, self.unit_count, self.unit_name
            )
        if self.pending:
            self._restore()

    def recognise(self, while_waiting: Callable[[], None]) -> Iterator[UnitRead]:
        """Recognise the pending units; yield after each. `while_waiting` is called several times a second."""
        if not self.pending:
            return
        findings = extract(
            self.path,
            _limits(),
            deep=True,
            units=self.pending,
            speech_model=settings.SPEECH_MODEL,
            voice_graph=voice_graph() if self.is_recording else None,
            while_waiting=while_waiting,
        )
        for read in self._store_findings(findings):
            unit = self.units[read.number]
            self._checkpoint.add(unit.elements, unit.read)
            yield read

    @property
    def is_recording(self) -> bool:
        """Whether the file is sound or film."""
        return self.opened is not None and self.opened.duration is not None

    @cached_property
    def is_multimodal(self) -> bool:
        """Whether the document's pictures become chunks: the setting of its workspace at the time of
        processing."""
        return is_multimodal(self._document.workspace_id)

    @property
    def pictured(self) -> tuple[int, ...]:
        """The units in which to look for pictures, ascending: pages and images that could be read, and units
        of office files that hold pictures."""
        if not self.is_multimodal or self.opened is None or not has_pictures(self.opened.file_type):
            return ()
        return tuple(
            sorted(n for n, unit in self.units.items() if unit.read.source is not TextOrigin.UNREADABLE)
        )

    def look_for_pictures(self, while_waiting: Callable[[], None]) -> Iterator[UnitRead]:
        """Find pictures; yield after each unit. If this fails, only pictures are lost."""
        if not self.pictured:
            return
        unseen: list[int] = []
        try:
            for finding in self._found_in_pictures(while_waiting):
                match finding:
                    case Pictured():
                        self.pictures.append(finding)
                    case UnitRead(number, source):
                        unseen += [number] if source is TextOrigin.UNREADABLE else []
                        yield finding
        except DocumentError as error:
            self.warnings.append(Warned("pictures_unread", f"Not all pictures were read. {error.message}"))
        if unseen:
            where = f"{self.unit_name}s {', '.join(map(str, unseen))}"
            self.warnings.append(Warned("pictures_unread", f"The pictures on {where} could not be read."))

    def _found_in_pictures(self, while_waiting: Callable[[], None]) -> Iterator[Finding]:
        yield from extract(
            self.path,
            _limits(),
            deep=True,
            pictures=True,
            units=self.pictured,
            while_waiting=while_waiting,
        )

    def add_descriptions(self, descriptions: Mapping[PageBox, Description], warnings: list[Warned]) -> None:
        """Note what a captioner has said of pictures, by their areas."""
        self.descriptions = dict(descriptions)
        self.warnings += warnings

    def close(self) -> None:
        """Delete the checkpoint."""
        self._checkpoint.clear()

    @property
    def unit_count(self) -> int:
        """How many units the whole file has."""
        return self.opened.units if self.opened else 1

    @property
    def modality(self) -> Modality:
        """The document's modality."""
        return Modality(KINDS[self.opened.file_type].modality) if self.opened else Modality.TEXT

    @property
    def unit_name(self) -> str:
        """The word for a unit that people use."""
        if self.opened is None or self.is_recording:
            return "part"
        return UNIT_NAMES.get(self.opened.file_type, "page" if self.opened.page_count else "part")

    def _restore(self) -> None:
        pending = frozenset(self.pending)
        for elements, read in self._checkpoint.units():
            if read.number in pending:
                self.units[read.number] = Unit(elements, read)

    def _store_findings(self, findings: Iterator[Finding]) -> Iterator[UnitRead]:
        """Store every finding; yield at the end of each unit."""
        elements: list[Element] = []
        for finding in findings:
            match finding:
                case Element():
                    elements.append(finding)
                case UnitRead(number):
                    self.units[number] = Unit(elements, finding)
                    elements = []
                    yield finding
                case Attached():
                    self.attached.append(finding)
                case Warned():
                    self.warnings += [] if finding in self.warnings else [finding]
                case Opened():
                    self._open(finding)

    def _open(self, opened: Opened) -> None:
        if self.opened is not None:
            return
        self.opened = opened
        self._writer.write_or_stop(
            file_type=opened.file_type,
            mime_type=opened.mime_type,
            page_count=opened.page_count,
            duration=opened.duration,
        )
        url, name = self._document.url, self._document.name
        if url and opened.title and name in (url, name_of_url(url)):
            # The page's own title; a name that somebody gave is kept.
            self._writer.rename(name, opened.title)
        self.warnings += _name_mismatch(self._document.name, opened.file_type)


def _limits() -> SandboxLimits:
    return SandboxLimits(
        settings.EXTRACTION_TIMEOUT_SECS,
        settings.EXTRACTION_MEMORY_BYTES,
        settings.MAX_PAGES,
        settings.EXTRACTION_TOTAL_SECS,
    )


def _name_mismatch(name: str, file_type: str) -> list[Warned]:
    if not is_misnamed(name, file_type):
        return []
    what = (
        f"The file's name promises {promised_type(name)}, but it was read as what it contains: {file_type}."
    )
    return [Warned("name_mismatch", what)]
