"""What the storage holds of documents, whichever it is: a folder, or a bucket (`bin/test --engines s3`).

Tests ask these functions, and no path: only a folder has paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.utils import timezone
from pytest_django import Settings

from kb.documents import document_folder
from kb.models import Document


def is_stored(document: Document) -> bool:
    """Return whether the file is there that this value names, which may be older than its row."""
    return default_storage.exists(name_of(document))


def stored_bytes(document: Document) -> bytes:
    """Return the content of a document's file; raise `FileNotFoundError` if it is lost."""
    with default_storage.open(name_of(document)) as file:
        return bytes(file.read())


def names_beside(document: Document) -> set[str]:
    """Return the names of all files in a document's folder, without the folder."""
    return set(_names_in(document_folder(document.pk)))


def has_folder(document: Document) -> bool:
    """Return whether anything is left of a document's folder: an empty folder of a disk counts as well."""
    folder = document_folder(document.pk)
    return default_storage.exists(folder) or any(_names_in(folder))


def all_stored() -> set[str]:
    """Return the names of all files, with their folders."""
    return set(_names_in(""))


def lose_file(document: Document) -> None:
    """Remove a document's file, and nothing else."""
    assert is_stored(document)
    default_storage.delete(name_of(document))


def name_of(document: Document) -> str:
    """Return the name that the storage knows a document's file by."""
    assert document.file.name
    return document.file.name


def store(name: str, content: bytes = b"x") -> str:
    """Store a file that is no document's, and return its name."""
    assert default_storage.save(name, ContentFile(content)) == name
    return name


def make_old(monkeypatch: pytest.MonkeyPatch, name: str, age: timedelta) -> None:
    """Let the storage say that a file was stored so long ago: a bucket lets nobody set that."""
    # Not `default_storage`: it may stand for another storage when this is undone.
    storage = storages["default"]
    modified, then = storage.get_modified_time, timezone.now() - age
    monkeypatch.setattr(
        storage, "get_modified_time", lambda asked: then if asked == name else modified(asked)
    )


def store_apart(settings: Settings, folder: Path) -> None:
    """Keep the files of this test apart from all others: in this folder, or below a name of the bucket."""
    settings.MEDIA_ROOT = folder
    if settings.STORAGE == "s3":
        bucket = settings.STORAGES["default"]
        options = bucket["OPTIONS"] | {"location": f"{bucket['OPTIONS']['location']}/{uuid4()}"}
        settings.STORAGES = settings.STORAGES | {"default": bucket | {"OPTIONS": options}}


def store_in_folder(settings: Settings) -> None:
    """Keep files in a folder, whichever engines the tests run beside."""
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    settings.STORAGE = "folder"
    settings.STORAGES = settings.STORAGES | {"default": backend}


def _names_in(folder: str) -> Iterator[str]:
    """Yield the names of all files in a folder and below it, as seen from there; none if it is not there."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from files
    for inner in folders:
        for name in _names_in(f"{folder}/{inner}" if folder else inner):
            yield f"{inner}/{name}"
