"""Word before 2007: read by msdoc2docx into a Word file of today, which the usual reader then reads."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from doc2docx import convert, converter
from doc2docx.errors import Doc2DocxError, EncryptedDocumentError, InvalidCompoundFile
from doc2docx.ooxml import package

from extract.base import Finding, Request
from extract.errors import NO_UNLOCKING, Corrupted, Encrypted, UnsupportedType
from extract.office.docx import package_findings

TOO_OLD = "This Word file can't be read. Open it in Word, save it as .docx or PDF, and upload that."
DAMAGED = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


class _Read(Exception):
    """Carries the document that the library has read."""

    def __init__(self, document: Any) -> None:
        self.document = document


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the document's elements; raise `Corrupted`, `Encrypted` or `UnsupportedType`."""
    converted = _converted(path)
    with zipfile.ZipFile(converted) as archive:
        yield from package_findings(archive, converted, request, "doc")


def _converted(path: Path) -> BytesIO:
    """Return the file as a Word file of today."""
    written = BytesIO()
    try:
        document = _document(path)
        with patch.object(package, "Path", lambda file: file):
            package.write_docx(document, written)
    except EncryptedDocumentError as error:
        raise Encrypted(NO_UNLOCKING) from error
    except (InvalidCompoundFile, *DAMAGED) as error:
        raise Corrupted from error
    except Doc2DocxError as error:
        raise UnsupportedType(TOO_OLD) from error
    written.seek(0)
    return written


def _document(path: Path) -> Any:
    """Return what the library reads, before it writes: this process may write nothing to the disk."""
    with _without_files():
        try:
            convert(path, "converted.docx")
        except _Read as read:
            return read.document
    raise Corrupted


@contextmanager
def _without_files() -> Iterator[None]:
    def take(document: Any, _: object) -> None:
        raise _Read(document)

    files = SimpleNamespace(NamedTemporaryFile=lambda **_: _NoFile())
    with patch.object(converter, "tempfile", files), patch.object(converter, "write_docx", take):
        yield


class _NoFile:
    """Stands for the temporary file that the library would write to."""

    name = "unwritten"

    def __enter__(self) -> _NoFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass
