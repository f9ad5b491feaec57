"""Bringing files that are stored already to how `FILE_ENCRYPTION` wants them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.files.base import File
from django.core.files.storage import Storage, default_storage
from django.db import transaction

from kb.documents import document_folder, remove_page_images
from kb.encrypted_storage import EncryptedStorage
from kb.file_keys import LostKey
from kb.models import Document

BATCH = 1000


def encrypted_storage() -> EncryptedStorage | None:
    """Return the storage of files if it encrypts them."""
    storage: Any = default_storage  # a proxy, which has the class of what it stands for
    return storage if isinstance(storage, EncryptedStorage) else None


def files_to_encrypt(storage: EncryptedStorage) -> Iterator[Document]:
    """Yield the documents whose file is not encrypted, or with a key before the newest."""
    newest, _ = storage.keys.newest()
    for document in _documents():
        try:
            if storage.encryption_of(document.file.name or "") != newest:
                yield document
        except FileNotFoundError:
            continue  # what is missing is another fault


def files_to_decrypt(storage: EncryptedStorage) -> Iterator[Document]:
    """Yield the documents whose file is encrypted."""
    for document in _documents():
        try:
            if storage.encryption_of(document.file.name or "") is not None:
                yield document
        except FileNotFoundError:
            continue


def files_without_key(storage: EncryptedStorage) -> Iterator[Document]:
    """Yield the documents whose file nobody can decrypt any more."""
    for document in _documents():
        try:
            id = storage.encryption_of(document.file.name or "")
            if id is not None:
                storage.keys.key(id)
        except FileNotFoundError:
            continue
        except LostKey:
            yield document


def store_anew(document: Document, source: Storage, target: Storage) -> bool:
    """Store a document's file once more; return whether the document has it now.

    `target` is `source`, which encrypts, or the storage within it. Whoever reads the earlier file meanwhile
    finds it gone and tries again.
    """
    old = document.file.name or ""
    with source.open(old) as content:
        new = target.save(f"{document_folder(document.pk)}/original", File(content))
    with transaction.atomic():
        is_changed = bool(Document.unscoped.filter(pk=document.pk, file=old).update(file=new))
        transaction.on_commit(lambda: source.delete(old if is_changed else new))
    remove_page_images(document)
    return is_changed


def _documents() -> Iterator[Document]:
    return Document.unscoped.exclude(file="").order_by("pk").iterator(chunk_size=BATCH)
