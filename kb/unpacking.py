"""The files in a zip archive, each to become a document of its own."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, cast

from django.conf import settings
from django.core.files.base import File

from core.errors import DocumentError, PasswordRequired, ValidationError, WrongPassword
from core.text.storable import is_storable
from core.text.visible_text import one_line
from extract.archives import check_archive, is_protected
from extract.errors import Encrypted

MAX_FOLDER = 100
"""Of a tag that names the folder of a file; the end of a longer path is kept."""
BROKEN = "“{name}” can't be unpacked: it is damaged. Get the whole archive and upload it again."

AES = 99
"""The compression method that stands for AES, which Python's library does not read."""
AES_ARCHIVE = "The archive is protected by AES. Unpack it on your computer and upload the files in it."
MAX_PROTECTED_BYTES = 64 * 2**20
"""Decrypting takes about a second for every 2 MB."""
LARGE_ARCHIVE = "A protected archive may hold {} MiB. Unpack it on your computer and upload the files in it."


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of an archive; `folder` is its path there, "" at the top."""

    content: File[bytes]
    folder: str


def is_archive(upload: File[bytes]) -> bool:
    """Tell whether an upload is a zip archive by its name: office files are zip archives, too."""
    return (upload.name or "").lower().endswith(".zip") and zipfile.is_zipfile(cast(IO[bytes], upload.file))


def archived_files(upload: File[bytes], password: str | None = None) -> list[zipfile.ZipInfo]:
    """Return the files that an archive holds; raise `ValidationError` for a trap or a damaged one.

    So it does for too many files, and for one that is too large. Raise `PasswordRequired` or `WrongPassword`
    for one that is protected.
    """
    name = upload.name or "archive"
    with _opened(upload, password) as archive:
        if archive.testzip() is not None:
            raise ValidationError(BROKEN.format(name=name), param="files")
        members = [member for member in archive.infolist() if _is_file(member)]
    most = settings.MAX_FILES_PER_REQUEST
    if not members:
        raise ValidationError(f"“{name}” holds no files.", param="files")
    if len(members) > most:
        raise ValidationError(f"“{name}” holds {len(members)} files; at most {most}.", param="files")
    for member in members:
        if member.file_size > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES // 2**20
            raise ValidationError(f"“{member.filename[:200]}” is larger than {limit} MiB.", param="files")
    return members


def unpack(upload: File[bytes], password: str | None = None) -> Iterator[ArchivedFile]:
    """Yield the files of an archive, one at a time: each is gone when the next is asked for."""
    members = archived_files(upload, password)
    with _opened(upload, password) as archive:
        for member in members:
            path = PurePosixPath(member.filename.replace("\\", "/"))
            with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
                with archive.open(member) as source:
                    shutil.copyfileobj(source, file)
                file.seek(0)
                content: File[Any] = File(file, name=one_line(path.name) or "file")
                yield ArchivedFile(content, one_line("/".join(path.parts[:-1]))[-MAX_FOLDER:])


@contextmanager
def _opened(upload: File[bytes], password: str | None) -> Iterator[zipfile.ZipFile]:
    """Open an archive that is no trap; raise `ValidationError` if it is one, or can't be read."""
    upload.seek(0)
    try:
        with zipfile.ZipFile(cast(IO[bytes], upload.file)) as archive:
            if password is not None and is_protected(archive):
                _set_password(archive, password)
            check_archive(archive, may_be_protected=password is not None)
            yield archive
    except Encrypted:
        raise PasswordRequired(
            f"“{upload.name}” is protected. Send its password, or unpack it and upload the files in it.",
            param="password",
        ) from None
    except DocumentError as error:
        raise ValidationError(f"“{upload.name}”: {error.message}", param="files") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise ValidationError(BROKEN.format(name=upload.name), param="files") from error
    finally:
        upload.seek(0)


def _set_password(archive: zipfile.ZipFile, password: str) -> None:
    """Let members be read with a password; raise `WrongPassword`, or `ValidationError` for what can't be."""
    protected = [member for member in archive.infolist() if member.flag_bits & 0x1]
    if any(member.compress_type == AES for member in protected):
        raise ValidationError(AES_ARCHIVE, param="password")
    if sum(member.file_size for member in protected) > MAX_PROTECTED_BYTES:
        raise ValidationError(LARGE_ARCHIVE.format(MAX_PROTECTED_BYTES // 2**20), param="password")
    archive.setpassword(password.encode())
    try:
        archive.testzip()
    except (RuntimeError, zlib.error, zipfile.BadZipFile):
        raise WrongPassword(param="password") from None


def _is_file(member: zipfile.ZipInfo) -> bool:
    """Leave out folders, and what macOS and others hide in archives."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    hidden = (
        path.name.startswith(".") or "__MACOSX" in path.parts or path.name in ("Thumbs.db", "desktop.ini")
    )
    return not member.is_dir() and not hidden and is_storable(path.name)
