"""Documents' files in an object store that speaks S3 (docs/adr/0065-storage-by-setting.md).

What django-storages leaves out for files of hundreds of megabytes: a read is a stream from any position,
which neither memory nor disk holds whole; one client serves all threads; and every failure of the store is an
error with a code.
"""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, cast

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import File
from django.utils.deconstruct import deconstructible
from storages.backends.s3 import S3Storage as StoragesS3
from storages.utils import clean_name

from core.errors import StorageUnavailable

logger = logging.getLogger(__name__)
LOST = frozenset({"404", "NoSuchKey", "NotFound"})
# As many blocks of a file as one request of the store brings to a reader that asks for little at a time.
BUFFER_BYTES = 256 * 1024


@deconstructible
class S3Storage(StoragesS3):  # type: ignore[misc]
    """The objects of one bucket, below `location`; none is ever overwritten.

    Methods raise `FileNotFoundError` for what is not there, and `StorageUnavailable` if the store fails.
    """

    def __init__(self, **options: Any) -> None:
        self._lock = threading.Lock()
        self._shared: Any = None
        super().__init__(**options | {"file_overwrite": False})

    @property
    def connection(self) -> Any:
        """The connection of all threads: to make one takes a tenth of a second."""
        with self._lock:
            if self._shared is None:
                self._shared = self._create_session().resource(
                    "s3",
                    region_name=self.region_name,
                    endpoint_url=self.endpoint_url,
                    config=self.client_config,
                )
            return self._shared

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        if mode != "rb":
            raise ValueError("Objects are saved whole, and then only read.")
        key = self._key(name)
        with _store_errors("read"):
            head = self.connection.meta.client.head_object(Bucket=self.bucket_name, Key=key)
        stream = ObjectStream(self.connection.meta.client, self.bucket_name, key, head)
        return File(io.BufferedReader(stream, BUFFER_BYTES), name)

    def _save(self, name: str, content: File[bytes]) -> str:
        with _store_errors("store"):
            return cast(str, super()._save(name, content))

    def delete(self, name: str) -> None:
        """Delete a file; one that is not there is no error."""
        with _store_errors("delete"):
            super().delete(name)

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""
        with _store_errors("find"):
            return bool(super().exists(name))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        """Return the names of folders and files in a folder; one that is not there is empty."""
        with _store_errors("list"):
            return cast(tuple[list[str], list[str]], super().listdir(path))

    def size(self, name: str) -> int:
        """Return the bytes of a file."""
        with _store_errors("find"):
            return cast(int, super().size(name))

    def get_modified_time(self, name: str) -> datetime:
        """Return when a file was stored, with its time zone."""
        with _store_errors("find"):
            return cast(datetime, super().get_modified_time(name))

    def _key(self, name: str) -> str:
        return cast(str, self._normalize_name(clean_name(name)))


class ObjectStream(io.RawIOBase):
    """An object as a file to be read; a request is under way from where it was last sought."""

    def __init__(self, client: Any, bucket: str, key: str, head: dict[str, Any]) -> None:
        super().__init__()
        self._client, self._bucket, self._key = client, bucket, key
        self._size, self._etag = int(head["ContentLength"]), head["ETag"]
        self._position = 0
        self._body: Any = None

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes, at the price of one request."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to another position, and return it."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        target = max(0, origin + offset)
        if target != self._position:
            self._end_request()
            self._position = target
        return target

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer and return how many bytes; 0 is the end. Raise `StorageUnavailable`."""
        if self._position >= self._size:
            return 0
        with _store_errors("read"):
            if self._body is None:
                self._body = self._request()
            block = self._body.read(len(buffer))
        if not block:
            raise StorageUnavailable  # the store promised more
        buffer[: len(block)] = block
        self._position += len(block)
        return len(block)

    def close(self) -> None:
        """End the request under way."""
        self._end_request()
        super().close()

    def _request(self) -> Any:
        part = f"bytes={self._position}-"
        # Of the same object: who reads a file must never get parts of two.
        return self._client.get_object(Bucket=self._bucket, Key=self._key, Range=part, IfMatch=self._etag)[
            "Body"
        ]

    def _end_request(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None


@contextmanager
def _store_errors(doing: str) -> Iterator[None]:
    """Raise the house's errors for those of boto3."""
    try:
        yield
    except ClientError as error:
        if str(error.response.get("Error", {}).get("Code")) in LOST:
            raise FileNotFoundError("There is no such object.") from error
        _report(doing, error)
        raise StorageUnavailable from error
    except (BotoCoreError, Boto3Error, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        _report(doing, error)
        raise StorageUnavailable from error


def _report(doing: str, error: Exception) -> None:
    logger.error("The file store did not %s an object: %s", doing, error)
