"""Faults of files that are to be encrypted at rest; nothing is looked at without `FILE_ENCRYPTION`."""

from __future__ import annotations

from collections.abc import Iterator

from kb.doctor.base import Check, Finding, Unrepairable
from kb.encrypted_storage import UnreadableFile
from kb.file_encryption import encrypted_storage, files_to_encrypt, files_without_key, store_anew
from kb.models import Document


def _not_encrypted() -> Iterator[Finding]:
    if storage := encrypted_storage():
        for document in files_to_encrypt(storage):
            yield Finding(str(document.pk), f"“{document.name}”")


def _encrypt(finding: Finding) -> None:
    storage = encrypted_storage()
    document = Document.unscoped.filter(pk=finding.subject).first()
    if storage and document:
        try:
            store_anew(document, storage, storage)
        except UnreadableFile as error:
            raise Unrepairable(str(error)) from error


def _without_key() -> Iterator[Finding]:
    if storage := encrypted_storage():
        for document in files_without_key(storage):
            yield Finding(str(document.pk), f"“{document.name}”")


def _ask_for_key(finding: Finding) -> None:
    raise Unrepairable("Give the earlier key as ENCRYPTION_KEY_FALLBACKS, or upload the files again.")


LOST_KEYS = Check(
    "lost_keys", "Files that no key decrypts", "give the earlier key", _without_key, _ask_for_key
)
NOT_ENCRYPTED = Check(
    "not_encrypted",
    "Files that are not encrypted with the newest key",
    "encrypt them",
    _not_encrypted,
    _encrypt,
)
