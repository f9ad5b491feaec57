"""The memory of a worker and its reading processes together, kept below `WORKER_MEMORY_BYTES` (on Linux).

Above the limit the largest reading process is killed. Its document is tried once more and then fails with
`out_of_memory`, by the same way as if the kernel had killed it (`extract/sandbox/supervised.py`). Near the
limit the worker begins no further job while files are read.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from dataclasses import dataclass

import psutil
from django.conf import settings

from extract.sandbox.processes import server_pid

logger = logging.getLogger(__name__)

LOOK_EVERY_SECS = 0.5
NEAR = 0.75
"""The share of the limit from which on no further job begins."""
MUST_BE_FREE = 0.4
"""The share of the limit that models must leave when the worker starts."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes that the kernel can't take back: those of a file that is mapped do not count."""

    worker: int
    """Of the worker itself and the server that forks its reading processes."""
    readers: dict[int, int]
    """By the ids of the reading processes."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.worker + sum(self.readers.values())


class TooLittleMemory(Exception):
    """`WORKER_MEMORY_BYTES` has no room for the models and a document; the message is one sentence."""


def memory_use() -> MemoryUse:
    """Look at this process and those that read files for it, but at no other child, such as a database."""
    own = _bytes_of(psutil.Process())
    readers: dict[int, int] = {}
    server = server_pid()
    with suppress(psutil.Error):
        if server is not None:
            own += _bytes_of(psutil.Process(server))
            for keeper in psutil.Process(server).children():
                readers |= {process.pid: _bytes_of(process) for process in keeper.children(recursive=True)}
    return MemoryUse(own, readers)


def _bytes_of(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        memory = process.memory_info()
        return int(memory.rss - getattr(memory, "shared", 0))
    return 0


def check_worker_memory() -> None:
    """Raise `TooLittleMemory` if the limit is so low that no document could be read."""
    most = settings.WORKER_MEMORY_BYTES
    if most and memory_use().total > most * (1 - MUST_BE_FREE):
        raise TooLittleMemory(
            f"WORKER_MEMORY_BYTES={most} is too little: the worker itself takes {memory_use().total} bytes, "
            f"and {MUST_BE_FREE:.0%} of the limit must be left for reading."
        )


def is_memory_short() -> bool:
    """Return whether a further job has to wait for those that read now."""
    most = settings.WORKER_MEMORY_BYTES
    if not most:
        return False
    use = memory_use()
    return bool(use.readers) and use.total > most * NEAR


def enforce_memory_limit(use: MemoryUse, most: int) -> int | None:
    """Kill the largest reading process if the use is above the limit; return the id of what was killed.

    If the worker itself has grown so much, or nothing is read, it puts its jobs back and ends, and is started
    again.
    """
    if use.total <= most:
        return None
    if use.worker > most or not use.readers:
        logger.error("The worker itself takes %s bytes, WORKER_MEMORY_BYTES is %s: it ends.", use.total, most)
        os.kill(os.getpid(), signal.SIGTERM)
        return os.getpid()
    largest = max(use.readers, key=lambda pid: use.readers[pid])
    logger.warning(
        "A file took %s bytes to read, with %s in all, and WORKER_MEMORY_BYTES is %s: its reading was ended.",
        *(use.readers[largest], use.total, most),
    )
    with suppress(ProcessLookupError):
        os.kill(largest, signal.SIGKILL)
    return largest


async def watch_memory() -> None:
    """Look again and again; does nothing without a limit."""
    while settings.WORKER_MEMORY_BYTES:
        enforce_memory_limit(memory_use(), settings.WORKER_MEMORY_BYTES)
        await asyncio.sleep(LOOK_EVERY_SECS)
