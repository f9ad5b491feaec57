"""Files encrypted at rest (`FILE_ENCRYPTION`), in whatever storage they are (ADR 76).

    header   8 bytes that say so, 16 of the key's id, 32 of salt
    blocks   64 KiB of content each, the last one shorter, each with the 16 bytes of its tag

The key of a file is derived from one of `FileKeys` and the salt. A block is AES-256-GCM; its nonce is its
number. A tag covers, beside the block, whether it is the last, and the folder that the file belongs to. So a
file that was cut, put together anew, or exchanged for that of another document can't be read. Any range is
read by the blocks that it touches.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.core.files.base import File
from django.core.files.storage import Storage
from django.utils.deconstruct import deconstructible
from django.utils.module_loading import import_string

from kb.file_keys import ID_BYTES, KEY_BYTES, FileKeys, LostKey

MAGIC = b"LOCUS\x00E1"
SALT_BYTES = 32
HEADER_BYTES = len(MAGIC) + ID_BYTES + SALT_BYTES
TAG_BYTES = 16
BLOCK_BYTES = 64 * 1024
SEALED_BYTES = BLOCK_BYTES + TAG_BYTES


class UnreadableFile(OSError):
    """An encrypted file was changed, or its key is lost."""


@deconstructible
class EncryptedStorage(Storage):
    """Another storage, whose files are encrypted when they are saved; earlier ones are read as they are."""

    def __init__(self, backend: str, options: dict[str, Any] | None = None) -> None:
        self.inner: Storage = import_string(backend)(**(options or {}))
        self.keys = FileKeys(self.inner)

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        if mode != "rb":
            raise ValueError("Files are saved whole, and then only read.")
        file = self.inner.open(name)
        header = file.read(HEADER_BYTES)
        if not header.startswith(MAGIC):
            file.seek(0)
            return file
        try:
            cipher, size = self._cipher(header, name), _plain_size(self.inner.size(name))
        except Exception:
            file.close()
            raise
        stream = DecryptedStream(file, cipher, size, _place(name))
        return File(io.BufferedReader(stream, BLOCK_BYTES), name)

    def _save(self, name: str, content: File[bytes]) -> str:
        id, key = self.keys.newest()
        header = MAGIC + id + secrets.token_bytes(SALT_BYTES)
        stream = EncryptedStream(content, header, _file_cipher(key, header), _place(name))
        return cast(str, self.inner._save(name, stream))  # type: ignore[attr-defined]

    def encryption_of(self, name: str) -> bytes | None:
        """Return the id of the key that encrypts a file, or None; raise `FileNotFoundError`."""
        with self.inner.open(name) as file:
            header = file.read(HEADER_BYTES)
        return header[len(MAGIC) : len(MAGIC) + ID_BYTES] if header.startswith(MAGIC) else None

    def size(self, name: str) -> int:
        """Return the bytes of the content."""
        stored = self.inner.size(name)
        if stored < HEADER_BYTES + TAG_BYTES or self.encryption_of(name) is None:
            return stored
        return _plain_size(stored)

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return a name that is free."""
        return self.inner.get_available_name(name, max_length)

    def delete(self, name: str) -> None:
        """Delete a file; one that is not there is no error."""
        self.inner.delete(name)

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return self.inner.exists(name)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        """Return the names of folders and files in a folder."""
        return self.inner.listdir(path)

    def get_modified_time(self, name: str) -> datetime:
        """Return when a file was stored."""
        return self.inner.get_modified_time(name)

    def _cipher(self, header: bytes, name: str) -> AESGCM:
        id = header[len(MAGIC) : len(MAGIC) + ID_BYTES]
        try:
            return _file_cipher(self.keys.key(id), header)
        except LostKey:
            raise UnreadableFile(
                f"The key of {name} is not there, or no ENCRYPTION_KEY unwraps it."
            ) from None


class EncryptedStream:
    """The encrypted form of a content, made while it is read from the start to the end.

    It has what storages ask of a file that they save.
    """

    def __init__(self, content: File[bytes], header: bytes, cipher: AESGCM, place: bytes) -> None:
        self.name = content.name
        self._content, self._header, self._cipher, self._place = content, header, cipher, place
        self._rewind()

    def _rewind(self) -> None:
        self._content.seek(0)
        self._pending = bytearray(self._header)
        self._next = self._content.read(BLOCK_BYTES)
        self._number, self._is_done, self._position = 0, False, 0

    def read(self, size: int | None = None) -> bytes:
        """Return so many bytes, or fewer at the end; without a size all."""
        while not self._is_done and (size is None or size < 0 or len(self._pending) < size):
            self._seal_next()
        end = len(self._pending) if size is None or size < 0 else size
        taken = bytes(self._pending[:end])
        del self._pending[:end]
        self._position += len(taken)
        return taken

    def _seal_next(self) -> None:
        block, self._next = self._next, self._content.read(BLOCK_BYTES)
        self._is_done = not self._next
        self._pending += self._cipher.encrypt(
            _nonce(self._number), block, _context(self._place, self._is_done)
        )
        self._number += 1

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield all of it."""
        self._rewind()
        while block := self.read(chunk_size or SEALED_BYTES):
            yield block

    @property
    def size(self) -> int:
        """The bytes of all of it."""
        return HEADER_BYTES + _sealed_size(self._content.size)

    def seekable(self) -> bool:
        """No: only back to the start."""
        return False

    def readable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the start."""
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation
        if self._position:
            self._rewind()
        return 0

    @property
    def closed(self) -> bool:
        """Whether the content is closed."""
        return bool(self._content.closed)

    def close(self) -> None:
        """Leave the content to whoever opened it."""


class DecryptedStream(io.RawIOBase):
    """The content of an encrypted file; reading a range decrypts the blocks that it touches."""

    def __init__(self, file: File[bytes], cipher: AESGCM, size: int, place: bytes) -> None:
        super().__init__()
        self._file, self._cipher, self._size, self._place = file, cipher, size, place
        self._position = 0
        self._number, self._block = -1, b""
        self._last = max(0, -(-size // BLOCK_BYTES) - 1)

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to another position, and return it."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer and return how many bytes; 0 is the end. Raise `UnreadableFile`."""
        number, start = divmod(self._position, BLOCK_BYTES)
        if self._position >= self._size:
            if self._size == 0:
                self._decrypt(0)  # an empty file has a tag too
            return 0
        if number != self._number:
            self._decrypt(number)
        part = self._block[start : start + len(buffer)]
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)

    def _decrypt(self, number: int) -> None:
        self._file.seek(HEADER_BYTES + number * SEALED_BYTES)
        sealed = self._file.read(SEALED_BYTES)
        try:
            context = _context(self._place, number == self._last)
            self._block = self._cipher.decrypt(_nonce(number), sealed, context)
        except (InvalidTag, ValueError):
            raise UnreadableFile(f"The file {self._file.name} was changed since it was encrypted.") from None
        self._number = number

    def close(self) -> None:
        """Close the encrypted file."""
        self._file.close()
        super().close()


def _file_cipher(key: bytes, header: bytes) -> AESGCM:
    return AESGCM(HKDF(SHA256(), KEY_BYTES, salt=header[-SALT_BYTES:], info=b"locus: a file").derive(key))


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


def _context(place: bytes, is_last: bool) -> bytes:
    return place + (b" last" if is_last else b" more")


def _place(name: str) -> bytes:
    return str(PurePosixPath(name).parent).encode()


def _sealed_size(size: int) -> int:
    return size + TAG_BYTES * max(1, -(-size // BLOCK_BYTES))


def _plain_size(stored: int) -> int:
    sealed = stored - HEADER_BYTES
    return max(0, sealed - TAG_BYTES * max(1, -(-sealed // SEALED_BYTES)))
