"""A zip archive whose parts leave while it is written, so memory and disk hold only one of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from core.threads import in_database

Member = tuple[str, Iterable[bytes]]
"""A path in the archive, and the content in parts."""
PART_BYTES = 256 * 1024


class _Outlet:
    """A file that can be written, and not sought; what was written is taken out."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts, self.size = [], 0
        return taken


def zip_parts(members: Iterable[Member]) -> Iterator[bytes]:
    """Yield an archive of the members in parts of about `PART_BYTES`."""
    outlet = _Outlet()
    with ZipFile(outlet, "w", ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for path, blocks in members:
            info = ZipInfo(path, time.gmtime()[:6])
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            with archive.open(info, "w", force_zip64=True) as member:
                for block in blocks:
                    member.write(block)
                    if outlet.size >= PART_BYTES:
                        yield outlet.take()
    yield outlet.take()


async def stream_zip(members: Iterable[Member]) -> AsyncIterator[bytes]:
    """Yield the archive for a response; each part is made in a thread that may use the database."""
    parts = zip_parts(members)
    while part := await in_database(next, parts, b""):
        yield part
