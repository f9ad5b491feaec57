"""Faults found by looking at the files."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from core.process.file_modes import close_to_others, too_open_paths
from core.pubsub import document_topic, publish
from kb.doctor.base import Check, Finding, Unrepairable, lock_document
from kb.documents import FILE_LOST, document_folder, has_file, remove_cache, reprocess
from kb.index.writing import index_document
from kb.models import Chunk, Document, Searchable, Stage, Status

BATCH = 1000
# A file is stored before its row, so a younger file may belong to an upload in progress.
ORPHAN_AFTER = timedelta(hours=1)
USABLE = (Status.READY, Status.PARTIAL)


def _missing_files() -> Iterator[Finding]:
    for document in Document.unscoped.order_by("pk").iterator(chunk_size=BATCH):
        if _lacks_its_file(document):
            yield Finding(str(document.pk), f"“{document.name}”, {document.status}")


def _lacks_its_file(document: Document) -> bool:
    if document.file:
        return not has_file(document)
    if document.url:
        return document.status in USABLE
    return document.status not in (Status.FAILED, Status.CANCELLED)


def _give_up_file(finding: Finding) -> None:
    if not _is_storage_there():
        raise Unrepairable("The folder of all documents is missing. Is the volume mounted?")
    with transaction.atomic():
        document = lock_document(finding.subject)
        if document is None or not _lacks_its_file(document):
            return
        document.file = ""
        document.save()
        if document.url:
            reprocess(document)
        elif document.status not in (Status.FAILED, Status.CANCELLED):
            _mark_as_lost(document)


def _is_storage_there() -> bool:
    """Tell whether the files of documents can be looked at; only in a folder may there be none at all."""
    try:
        return default_storage.exists("documents") or any(default_storage.listdir("documents"))
    except FileNotFoundError:
        return False


def _mark_as_lost(document: Document) -> None:
    Chunk.unscoped.filter(document=document).delete()
    index_document(document.pk)
    document.status, document.stage, document.searchable = Status.FAILED, Stage.DONE, Searchable.NONE
    document.error_code, document.error_message, document.chunk_count = "corrupted", FILE_LOST, 0
    document.save()
    publish(document_topic(document.workspace_id), str(document.pk))


def _orphans() -> Iterator[Finding]:
    try:
        names = default_storage.listdir("documents")[0]
    except FileNotFoundError:
        return
    ids = (id for name in names if (id := _uuid(name)))
    while batch := list(islice(ids, BATCH)):
        files = dict(Document.unscoped.filter(pk__in=batch).values_list("pk", "file"))
        for id in batch:
            yield from _orphans_in(id, files.get(id))


def _orphans_in(id: UUID, file: str | None) -> Iterator[Finding]:
    """Yield the files in a document's folder that are not its file; None means that there is no such
    document."""
    folder = document_folder(id)
    for name in default_storage.listdir(folder)[1]:
        path = f"{folder}/{name}"
        old = default_storage.get_modified_time(path) < timezone.now() - ORPHAN_AFTER
        if old and path != file and (file is None or name.startswith("original")):
            yield Finding(path, "no such document" if file is None else "superseded")


def _delete_orphan(finding: Finding) -> None:
    if not Document.unscoped.exists():
        raise Unrepairable("There are files, but no documents. Is this the right database?")
    if Document.unscoped.filter(file=finding.subject).exists():
        return
    default_storage.delete(finding.subject)
    with suppress(OSError):  # its folder, if nothing else is in it
        default_storage.delete(finding.subject.rpartition("/")[0])


def _stale_caches() -> Iterator[Finding]:
    paths = (Path(settings.DATA_DIR) / "cache").glob("*/*")
    entries = ((path, id) for path in paths if (id := _uuid(path.name.partition(".")[0])))
    while batch := list(islice(entries, BATCH)):
        documents = Document.unscoped.in_bulk([id for _, id in batch])
        for path, id in batch:
            if reason := _is_stale(path, documents.get(id)):
                yield Finding(str(path), reason)


def _is_stale(path: Path, document: Document | None) -> str:
    if document is None:
        return "no such document"
    if not path.is_dir() or not has_file(document):
        return ""
    changed = document.file.storage.get_modified_time(document.file.name or "").timestamp()
    try:
        is_older = any(image.stat().st_mtime < changed for image in path.iterdir())
    except FileNotFoundError:  # removed meanwhile
        return ""
    return "older than the file" if is_older else ""


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _open_files() -> Iterator[Finding]:
    data_dir = Path(settings.DATA_DIR)
    for path in too_open_paths(data_dir):
        yield Finding(str(path), stat.filemode(path.lstat().st_mode))


def _close_file(finding: Finding) -> None:
    try:
        close_to_others(Path(finding.subject), Path(settings.DATA_DIR))
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unrepairable(f"{error.filename}: {error.strerror}") from error


# --- The checks --------------------------------------------------------------------------------------------

ORPHAN_FILES = Check(
    "orphan_files", "Files that belong to no document", "delete them", _orphans, _delete_orphan
)
MISSING_FILES = Check(
    "missing_files",
    "Documents whose file is missing",
    "fetch web pages again; mark the others as failed, so that they can be uploaded again",
    _missing_files,
    _give_up_file,
)
STALE_CACHES = Check(
    "stale_caches",
    "Page images and other caches of deleted or changed documents",
    "delete them",
    _stale_caches,
    lambda finding: remove_cache(Path(finding.subject)),
)
OPEN_FILES = Check(
    "open_files",
    "Files and folders that other accounts of this machine may use",
    "close them",
    _open_files,
    _close_file,
)
