"""The keys with which files are encrypted at rest: kept beside the files, each wrapped with `ENCRYPTION_KEY`.

`keys/MOMENT-ID.FINGERPRINT` in the file storage has one key; FINGERPRINT says which `ENCRYPTION_KEY` wraps
it. A new `ENCRYPTION_KEY` therefore costs a few small objects and no file. Objects are never overwritten: a
key that is wrapped anew is a new object, and then the old one goes.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage

FOLDER = "keys"
ID_BYTES, NONCE_BYTES, KEY_BYTES = 16, 12, 32


class LostKey(Exception):
    """A file's key is not there, or was wrapped with a key that is not `ENCRYPTION_KEY` or a fallback."""


@dataclass(frozen=True, slots=True)
class _WrappedKey:
    """The name of an object in `FOLDER`."""

    moment: str
    id: str
    fingerprint: str

    @property
    def name(self) -> str:
        return f"{FOLDER}/{self.moment}-{self.id}.{self.fingerprint}"


class FileKeys:
    """The keys in one storage; each is unwrapped once in a process."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._known: dict[str, bytes] = {}
        self._newest: str | None = None

    def newest(self) -> tuple[bytes, bytes]:
        """Return id and key for files that are stored now; the first file makes the first key."""
        with self._lock:
            if self._newest is None:
                found = self._wrapped()
                self._newest = max(found, key=lambda each: each.moment).id if found else self._make()
            return bytes.fromhex(self._newest), self._key(self._newest)

    def key(self, id: bytes) -> bytes:
        """Return the key with this id; raise `LostKey`."""
        with self._lock:
            return self._key(id.hex())

    def add(self) -> None:
        """Make another key, which this process takes for files from now on, and others after their start."""
        with self._lock:
            self._newest = self._make()

    def wrap_anew(self) -> int:
        """Wrap all keys with the present `ENCRYPTION_KEY`; return how many no key unwraps."""
        present, lost = fingerprint_of(settings.ENCRYPTION_KEY), 0
        found = self._wrapped()
        is_present = {each.id for each in found if each.fingerprint == present}
        for each in found:
            if each.fingerprint == present:
                continue
            if each.id not in is_present:
                try:
                    self._store(each.moment, each.id, self._unwrap(each))
                except LostKey:
                    lost += 1
                    continue
                is_present.add(each.id)
            self._storage.delete(each.name)
        return lost

    def _key(self, id: str) -> bytes:
        if id not in self._known:
            candidates = [each for each in self._wrapped() if each.id == id]
            self._known[id] = self._unwrap_one_of(candidates)
        return self._known[id]

    def _unwrap_one_of(self, candidates: list[_WrappedKey]) -> bytes:
        for candidate in candidates:
            try:
                return self._unwrap(candidate)
            except LostKey:
                continue
        raise LostKey

    def _unwrap(self, wrapped: _WrappedKey) -> bytes:
        masters = {
            fingerprint_of(each): each
            for each in (settings.ENCRYPTION_KEY, *settings.ENCRYPTION_KEY_FALLBACKS)
        }
        master = masters.get(wrapped.fingerprint)
        if master is None:
            raise LostKey
        try:
            with self._storage.open(wrapped.name) as file:
                content = file.read()
            nonce, sealed = content[:NONCE_BYTES], content[NONCE_BYTES:]
            return _cipher(master).decrypt(nonce, sealed, wrapped.id.encode())
        except (FileNotFoundError, InvalidTag, ValueError) as error:
            raise LostKey from error

    def _make(self) -> str:
        id, key = secrets.token_hex(ID_BYTES), AESGCM.generate_key(8 * KEY_BYTES)
        self._store(datetime.now(UTC).strftime("%Y%m%d%H%M%S%f"), id, key)
        self._known[id] = key
        return id

    def _store(self, moment: str, id: str, key: bytes) -> None:
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = nonce + _cipher(settings.ENCRYPTION_KEY).encrypt(nonce, key, id.encode())
        wrapped = _WrappedKey(moment, id, fingerprint_of(settings.ENCRYPTION_KEY))
        self._storage.save(wrapped.name, ContentFile(sealed))

    def _wrapped(self) -> list[_WrappedKey]:
        try:
            names = self._storage.listdir(FOLDER)[1]
        except FileNotFoundError:
            return []
        parts = (name.replace("-", ".").split(".") for name in sorted(names))
        return [_WrappedKey(*each) for each in parts if len(each) == 3]


def fingerprint_of(master: str) -> str:
    """Return what tells one `ENCRYPTION_KEY` from another, and nothing about it."""
    return _derived(master, b"locus: fingerprint", 8).hex()


def _cipher(master: str) -> AESGCM:
    return AESGCM(_derived(master, b"locus: keys of files", KEY_BYTES))


def _derived(master: str, purpose: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt=None, info=purpose).derive(master.encode())
