"""Starts one child process with limits, watches it, reads its lines, ends it."""

from __future__ import annotations

import fcntl
import logging
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import DocumentError
from extract.base import Request
from extract.errors import Corrupted, ExtractionTimeout, Internal, OutOfMemory
from extract.sandbox.processes import start
from extract.sandbox.wire import MAX_LINE_BYTES, ProtocolError

logger = logging.getLogger(__name__)
LOGGED_BYTES = 4000
BLOCK_BYTES = 2**20
POLL_MS = 200


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one extraction; `timeout_secs` is for each unit: a page, a minute of sound, a text."""

    timeout_secs: float
    memory_bytes: int
    max_pages: int
    total_secs: float = 6 * 3600.0


class ChildExited(Exception):
    """The child exited before it was done; `cause` is the document's error.

    If `was_killed`, the reason need not be the file: the kernel was short of memory, or somebody sent the
    signal.
    """

    def __init__(self, cause: DocumentError, *, was_killed: bool = False) -> None:
        self.cause, self.was_killed = cause, was_killed
        super().__init__(cause.message)


class Child:
    """A context manager around the process; leaving it kills the process if it still runs."""

    def __init__(self, path: Path, request: Request, limits: SandboxLimits) -> None:
        self._path, self._request, self._limits = path, request, limits
        self._expired = False

    def __enter__(self) -> Self:
        self._log = tempfile.TemporaryFile()
        self._out, out = os.pipe()
        try:
            if sys.platform == "linux":
                fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, BLOCK_BYTES)
            arguments = arguments_of(self._path, self._request, self._limits)
            self._process = start(arguments, out, self._log.fileno())
        finally:
            os.close(out)
        self.grant_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        self._log_tail()
        self._log.close()

    def grant_time(self) -> None:
        """Start the time limit of the next unit."""
        self._due = time.monotonic() + self._limits.timeout_secs

    def lines(self, while_waiting: Callable[[], None]) -> Iterator[bytes]:
        """Yield the lines that the child writes.

        `while_waiting` is called several times a second while there is nothing to read. Raises `ChildExited`
        after the child's last line, and `ProtocolError` for an endless line.
        """
        pending = b""
        for block in self._blocks(while_waiting):
            *whole, pending = (pending + block).split(b"\n")
            yield from whole
            if len(pending) > MAX_LINE_BYTES:
                raise ProtocolError("a line without end")
        raise self._exit_cause()

    def _blocks(self, while_waiting: Callable[[], None]) -> Iterator[bytes]:
        readable = select.poll()
        readable.register(self._out, select.POLLIN | select.POLLHUP)
        while True:
            if not readable.poll(0):
                while_waiting()
                if time.monotonic() > self._due:
                    self._expired = True
                    self._process.kill()
                elif not readable.poll(POLL_MS):
                    continue
            block = os.read(self._out, BLOCK_BYTES)
            if not block:
                return
            yield block

    def _exit_cause(self) -> ChildExited:
        returncode = self._process.wait()
        if self._expired or returncode == -signal.SIGXCPU:
            return ChildExited(ExtractionTimeout())
        if returncode == -signal.SIGKILL:
            return ChildExited(OutOfMemory(), was_killed=True)
        if returncode < 0:
            what = "The file makes its reader crash. Open and save it again, then upload it once more."
            return ChildExited(Corrupted(what))
        return ChildExited(Internal())

    def _log_tail(self) -> None:
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - LOGGED_BYTES))
        printed = self._log.read().decode(errors="replace").strip()
        if printed:
            logger.info("Extraction of %s printed: %s", self._path, printed)


def arguments_of(path: Path, request: Request, limits: SandboxLimits) -> list[str]:
    """Return the child's command-line arguments."""
    # A second defence: if this process stops watching, the kernel still ends an endless loop.
    cpu_secs = int(limits.total_secs) * (os.cpu_count() or 1)
    return [
        str(path.resolve()),
        *("--memory-bytes", str(limits.memory_bytes)),
        *("--cpu-secs", str(cpu_secs)),
        *("--max-pages", str(limits.max_pages)),
        *(("--units", ",".join(map(str, request.units))) if request.units else ()),
        *(("--promised", request.promised) if request.promised else ()),
        *(("--suffix", request.suffix) if request.suffix else ()),
        *("--speech-model", request.speech_model),
        *(("--voice-graph", str(request.voice_graph.resolve())) if request.voice_graph else ()),
        *(("--attachments", str(request.attachments.resolve())) if request.attachments else ()),
        *(("--main-content",) if request.main_content else ()),
        *(("--deep",) if request.deep else ()),
        *(("--pictures",) if request.pictures else ()),
        *(("--safe-mode",) if request.safe_mode else ()),
    ]
