"""Files encrypted at rest: the life of a document, any range, tampering, keys, the way there and back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from ingestion.pipeline import ingest
from kb.doctor import CHECKS, examine, repair
from kb.documents import document_folder
from kb.encrypted_storage import (
    BLOCK_BYTES,
    HEADER_BYTES,
    MAGIC,
    SEALED_BYTES,
    EncryptedStorage,
    UnreadableFile,
)
from kb.file_encryption import encrypted_storage
from kb.models import Document, Status
from locus.s3_options import s3_options
from tests.conftest import Cast
from tests.kb.test_storage import streamed
from tests.locus.test_settings import load_settings
from tests.testing.object_store import ObjectStore, object_store
from tests.testing.paths import SAMPLES

API = "/api/v1/documents"
FOLDER = "django.core.files.storage.FileSystemStorage"
NAME = "documents/one/original"
OnCommit = Callable[..., Any]


@pytest.fixture(scope="module")
def _store() -> Iterator[ObjectStore]:
    with object_store() as store:
        yield store


def use(settings: Any, inner: dict[str, Any], *, encrypts: bool = True) -> None:
    wrapper = {
        "BACKEND": "kb.encrypted_storage.EncryptedStorage",
        "OPTIONS": {"backend": inner["BACKEND"], "options": inner["OPTIONS"]},
    }
    settings.STORAGES = settings.STORAGES | {"default": wrapper if encrypts else inner}


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    use(settings, {"BACKEND": FOLDER, "OPTIONS": {"location": str(tmp_path / "files")}})
    return tmp_path / "files"


@pytest.fixture
def storage(tmp_path: Path) -> EncryptedStorage:
    return EncryptedStorage(FOLDER, {"location": str(tmp_path)})


def uploaded(cast: Cast, name: str, content: bytes) -> Document:
    body = {"files": SimpleUploadedFile(name, content), "workspace_id": str(cast.team.pk)}
    reply = Client().post(API, body, headers=cast.headers("alice"))
    assert reply.status_code == 202, reply.content
    return Document.unscoped.get(pk=reply.json()["documents"][0]["id"])


def faults() -> dict[str, int]:
    return {result.check.code: result.count for result in map(examine, CHECKS) if result.count}


# --- One file ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 200_000]
)
def test_what_is_saved_is_read_and_nothing_of_it_is_stored(
    storage: EncryptedStorage, tmp_path: Path, size: int
) -> None:
    content = os.urandom(size)
    name = storage.save(NAME, ContentFile(content))
    assert storage.size(name) == size
    assert storage.open(name).read() == content
    stored = (tmp_path / name).read_bytes()
    assert stored.startswith(MAGIC)
    assert not any(content[at : at + 16] in stored for at in range(0, size - 16, 997))


def test_any_range_is_read(storage: EncryptedStorage) -> None:
    content = os.urandom(3 * BLOCK_BYTES + 100)
    with storage.open(storage.save(NAME, ContentFile(content))) as file:
        for start in (0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, 3 * BLOCK_BYTES, len(content) - 1, len(content)):
            for length in (1, 16, BLOCK_BYTES, BLOCK_BYTES + 2, len(content)):
                file.seek(start)
                assert file.read(length) == content[start : start + length]


def test_equal_files_look_different(storage: EncryptedStorage, tmp_path: Path) -> None:
    names = [storage.save(NAME, ContentFile(b"the same" * 100)) for _ in range(2)]
    first, second = ((tmp_path / name).read_bytes() for name in names)
    assert names[0] != names[1]
    assert first[HEADER_BYTES:] != second[HEADER_BYTES:]


TAMPERING: dict[str, Callable[[bytes], bytes]] = {
    "a bit": lambda stored: stored[:-100] + bytes([stored[-100] ^ 1]) + stored[-99:],
    "a bit of the salt": lambda stored: stored[:30] + bytes([stored[30] ^ 1]) + stored[31:],
    "cut within a block": lambda stored: stored[:-10],
    "cut between blocks": lambda stored: stored[: HEADER_BYTES + SEALED_BYTES],
    "blocks exchanged": lambda stored: (
        stored[:HEADER_BYTES]
        + stored[HEADER_BYTES + SEALED_BYTES : HEADER_BYTES + 2 * SEALED_BYTES]
        + stored[HEADER_BYTES : HEADER_BYTES + SEALED_BYTES]
        + stored[HEADER_BYTES + 2 * SEALED_BYTES :]
    ),
    "something behind": lambda stored: stored + stored[HEADER_BYTES : HEADER_BYTES + SEALED_BYTES],
}


@pytest.mark.parametrize("change", TAMPERING.values(), ids=TAMPERING)
def test_a_changed_file_is_refused(
    storage: EncryptedStorage, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / storage.save(NAME, ContentFile(os.urandom(2 * BLOCK_BYTES + 1000)))
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UnreadableFile), storage.open(NAME) as file:
        file.read()


def test_the_file_of_another_document_is_refused(storage: EncryptedStorage, tmp_path: Path) -> None:
    for name in ("documents/one/original", "documents/two/original"):
        storage.save(name, ContentFile(name.encode()))
    (tmp_path / "documents/two/original").replace(tmp_path / "documents/one/original")
    with pytest.raises(UnreadableFile), storage.open("documents/one/original") as file:
        file.read()


def test_earlier_files_are_read_as_they_are(storage: EncryptedStorage) -> None:
    storage.inner.save(NAME, ContentFile(b"from before"))
    assert storage.encryption_of(NAME) is None
    with storage.open(NAME) as file:
        assert (file.read(), storage.size(NAME)) == (b"from before", 11)


# --- Keys --------------------------------------------------------------------------------------------------


def test_a_new_encryption_key_changes_no_file(
    storage: EncryptedStorage, tmp_path: Path, settings: Any
) -> None:
    settings.ENCRYPTION_KEY = "an old key"
    storage.save(NAME, ContentFile(b"a secret"))
    before = (tmp_path / NAME).read_bytes()
    settings.ENCRYPTION_KEY, settings.ENCRYPTION_KEY_FALLBACKS = "a new key", ["an old key"]
    again = EncryptedStorage(FOLDER, {"location": str(tmp_path)})
    assert again.open(NAME).read() == b"a secret"
    assert again.keys.wrap_anew() == 0
    settings.ENCRYPTION_KEY_FALLBACKS = []
    later = EncryptedStorage(FOLDER, {"location": str(tmp_path)})
    assert later.open(NAME).read() == b"a secret"
    assert (tmp_path / NAME).read_bytes() == before
    assert len(list((tmp_path / "keys").iterdir())) == 1
    settings.ENCRYPTION_KEY = "another key"
    stranger = EncryptedStorage(FOLDER, {"location": str(tmp_path)})
    with pytest.raises(UnreadableFile):
        stranger.open(NAME)
    assert stranger.keys.wrap_anew() == 1


def test_a_rotation_goes_on_where_others_were_interrupted(
    storage: EncryptedStorage, tmp_path: Path, settings: Any
) -> None:
    """A key may then be there twice, wrapped with two earlier ones."""
    settings.ENCRYPTION_KEY = "the first key"
    storage.save(NAME, ContentFile(b"a secret"))
    [first] = (tmp_path / "keys").iterdir()
    content = first.read_bytes()
    settings.ENCRYPTION_KEY, settings.ENCRYPTION_KEY_FALLBACKS = "the second key", ["the first key"]
    assert storage.keys.wrap_anew() == 0
    first.write_bytes(content)
    settings.ENCRYPTION_KEY = "the third key"
    settings.ENCRYPTION_KEY_FALLBACKS = ["the first key", "the second key"]
    assert storage.keys.wrap_anew() == 0
    assert len(list((tmp_path / "keys").iterdir())) == 1
    later = EncryptedStorage(FOLDER, {"location": str(tmp_path)})
    assert later.open(NAME).read() == b"a secret"
    assert later.keys.newest() == storage.keys.newest()


def test_a_key_that_was_exchanged_is_refused(storage: EncryptedStorage, tmp_path: Path) -> None:
    storage.save(NAME, ContentFile(b"a secret"))
    [key] = (tmp_path / "keys").iterdir()
    key.write_bytes(os.urandom(len(key.read_bytes())))
    with pytest.raises(UnreadableFile):
        EncryptedStorage(FOLDER, {"location": str(tmp_path)}).open(NAME)


def test_keys_are_made_once_and_known_to_all_processes(storage: EncryptedStorage, tmp_path: Path) -> None:
    other = EncryptedStorage(FOLDER, {"location": str(tmp_path)})
    storage.save(NAME, ContentFile(b"one"))
    assert other.keys.newest()[0] == storage.keys.newest()[0]
    storage.keys.add()
    storage.save("documents/two/original", ContentFile(b"two"))
    assert other.open("documents/two/original").read() == b"two"
    assert other.encryption_of("documents/two/original") != other.encryption_of(NAME)


# --- Documents ---------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["folder", "s3"])
def test_the_life_of_a_document(
    cast: Cast, place: str, settings: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    if place == "s3":
        store: ObjectStore = request.getfixturevalue("_store")
        settings.STORAGE = "s3"
        use(settings, {"BACKEND": "kb.s3_storage.S3Storage", "OPTIONS": s3_options(**store.options())})
    else:
        use(settings, {"BACKEND": FOLDER, "OPTIONS": {"location": str(tmp_path / "files")}})
    client, headers = Client(), cast.headers("alice")
    content = (SAMPLES / "report.pdf").read_bytes()
    document = uploaded(cast, "report.pdf", content)
    storage = encrypted_storage()
    assert storage is not None
    with storage.inner.open(document.file.name or "") as stored:
        assert stored.read(8) == MAGIC
    assert storage.size(document.file.name or "") == len(content) == document.size

    ingest(document.pk)
    document.refresh_from_db()
    assert document.status == Status.READY
    page = client.get(f"{API}/{document.pk}/pages/1?width=300", headers=headers)
    assert (page.status_code, page["Content-Type"]) == (200, "image/png")
    part = client.get(f"{API}/{document.pk}/file", headers=headers | {"Range": "bytes=100-299"})
    assert (part.status_code, streamed(part)) == (206, content[100:300])
    assert part["Content-Range"] == f"bytes 100-299/{len(content)}"
    whole = client.get(f"{API}/{document.pk}/file", headers=headers)
    assert (whole.status_code, streamed(whole)) == (200, content)
    assert uploaded_again(cast, content)
    assert faults() == {}
    # Three parts of an upload to a bucket.
    large = os.urandom(1000) * 20_000
    kept = storage.save("documents/large/original", ContentFile(large))
    assert storage.open(kept).read() == large
    storage.delete(kept)


def uploaded_again(cast: Cast, content: bytes) -> bool:
    body = {"files": SimpleUploadedFile("report.pdf", content), "workspace_id": str(cast.team.pk)}
    reply = Client().post(API, body, headers=cast.headers("alice"))
    return bool(reply.json()["documents"][0]["duplicate"])


@pytest.mark.django_db
def test_there_and_back(
    cast: Cast, folder: Path, settings: Any, django_capture_on_commit_callbacks: OnCommit
) -> None:
    """An installation that is encrypted later, gets a new key, and in the end is not encrypted any more."""
    inner = {"BACKEND": FOLDER, "OPTIONS": {"location": str(folder)}}
    use(settings, inner, encrypts=False)
    content = b"The keeper of the lighthouse writes down the wind."
    document = uploaded(cast, "notes.txt", content)
    ingest(document.pk)

    def stored() -> list[bytes]:
        document.refresh_from_db()
        files = [path for path in (folder / document_folder(document.pk)).iterdir() if path.is_file()]
        assert [path.name for path in files] == [Path(document.file.name or "").name]
        with default_storage.open(document.file.name or "") as file:
            assert file.read() == content
        return [path.read_bytes() for path in files]

    assert stored() == [content]
    use(settings, inner)
    assert faults() == {"not_encrypted": 1}
    with django_capture_on_commit_callbacks(execute=True):
        call_command("encrypt_files")
    [first] = stored()
    assert content not in first
    assert faults() == {}
    with django_capture_on_commit_callbacks(execute=True):
        call_command("encrypt_files", "--new-key")
    [second] = stored()
    assert second[:HEADER_BYTES] != first[:HEADER_BYTES]
    with django_capture_on_commit_callbacks(execute=True):
        call_command("encrypt_files", "--undo")
    assert stored() == [content]
    with django_capture_on_commit_callbacks(execute=True):
        for check in CHECKS:
            repair(examine(check))
    assert content not in stored()[0]


@pytest.mark.django_db
def test_rotation_and_what_doctor_says_of_a_lost_key(cast: Cast, folder: Path, settings: Any) -> None:
    settings.ENCRYPTION_KEY = "an old key"
    inner = {"BACKEND": FOLDER, "OPTIONS": {"location": str(folder)}}
    use(settings, inner)
    ingest(uploaded(cast, "notes.txt", b"The wind turns.").pk)
    settings.ENCRYPTION_KEY, settings.ENCRYPTION_KEY_FALLBACKS = "a new key", ["an old key"]
    use(settings, inner)
    call_command("rotate_secrets")
    settings.ENCRYPTION_KEY_FALLBACKS = []
    use(settings, inner)
    assert faults() == {}
    settings.ENCRYPTION_KEY = "another key"
    use(settings, inner)
    # Keys that nobody unwraps: files are stored with a new one.
    encrypted_storage().keys.add()
    assert faults() == {"lost_keys": 1, "not_encrypted": 1}
    with pytest.raises(CommandError, match="can't be decrypted: 1"):
        call_command("encrypt_files")


@pytest.mark.django_db
def test_without_the_setting_nothing_is_looked_at(settings: Any, tmp_path: Path) -> None:
    use(settings, {"BACKEND": FOLDER, "OPTIONS": {"location": str(tmp_path)}}, encrypts=False)
    assert encrypted_storage() is None
    assert isinstance(default_storage, FileSystemStorage)
    with pytest.raises(CommandError, match="FILE_ENCRYPTION"):
        call_command("encrypt_files")


def test_signed_addresses_would_hand_out_what_nobody_can_read() -> None:
    done = load_settings(FILE_ENCRYPTION="on", STORAGE="s3", S3_BUCKET="b", S3_SIGNED_DOWNLOADS="on")
    assert done.returncode == 1
    assert "S3_SIGNED_DOWNLOADS" in done.stderr and "Traceback" not in done.stderr
