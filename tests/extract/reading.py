"""What an extractor finds in bytes that a test makes up."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.locations import InFile
from extract.base import Attached, Element, Kind, Limits, Opened, Request, UnitRead, Warned
from extract.registry import extract

REQUEST = Request(Limits(100))


@dataclass(frozen=True)
class Read:
    """Everything an extractor said; what readers can't see is apart from the elements that they can."""

    opened: Opened
    elements: list[Element]
    units: list[UnitRead]
    hidden: str = ""
    warnings: list[Warned] = field(default_factory=list)
    attached: list[Attached] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(element.text for element in self.elements)

    def texts(self, kind: Kind) -> list[str]:
        return [element.text for element in self.elements if element.kind is kind]

    def kinds(self) -> list[tuple[str, str]]:
        return [(element.kind.value, element.text) for element in self.elements]

    def headings(self) -> list[tuple[int | None, str]]:
        return [(element.level, element.text) for element in self.elements if element.kind is Kind.HEADING]

    def places(self) -> list[InFile]:
        return [place for element in self.elements for place in element.located.files()]

    def place_of(self, text: str) -> InFile:
        """Return the place of the first occurrence of a text."""
        for element in self.elements:
            at = element.text.find(text)
            if at >= 0:
                return element.located.slice(at, at + len(text)).files()[0]
        raise AssertionError(f"{text!r} was not read")


def read(path: Path, request: Request = REQUEST) -> Read:
    """Read a file in this process; check what holds for every extractor."""
    findings = list(extract(path, request))
    opened = findings[0]
    assert isinstance(opened, Opened)
    units = [finding for finding in findings if isinstance(finding, UnitRead)]
    assert isinstance(findings[-1], UnitRead)
    assert [unit.number for unit in units] == list(request.units or range(1, opened.units + 1))
    elements = [finding for finding in findings if isinstance(finding, Element)]
    return Read(
        opened,
        [found for found in elements if found.kind is not Kind.HIDDEN],
        units,
        " ".join(found.text for found in elements if found.kind is Kind.HIDDEN),
        [finding for finding in findings if isinstance(finding, Warned)],
        [finding for finding in findings if isinstance(finding, Attached)],
    )


def read_bytes(folder: Path, content: bytes | str, request: Request = REQUEST) -> Read:
    """Read bytes (or text as UTF-8) whose file name says nothing."""
    return read(stored(folder, content), request)


def stored(folder: Path, content: bytes | str) -> Path:
    """Store bytes (or text as UTF-8) under a name that says nothing."""
    path = folder / "upload"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def simply(request: Request = REQUEST) -> Request:
    """Return the request for the sturdiest reading."""
    return replace(request, safe_mode=True)


def zipped(members: dict[str, bytes | str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of these members; it is always the same, since tests are named by it in each process."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()
