"""One child process: started with limits, watched, read line by line, ended."""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestion.errors import Corrupted, ExtractionTimeout, IngestionError, Internal, OutOfMemory
from ingestion.extract.base import Request
from ingestion.sandbox.wire import MAX_LINE_BYTES, Untrue

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
LOGGED_BYTES = 4000
BLOCK_BYTES = 2**20
POLL_MS = 200
# Nothing of ours: a parser that a file has taken over finds no keys and no database address.
ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Each of its threads reserves address space, of which the child has only so much.
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one extraction may use; `timeout_secs` is for each unit: a page, a minute of sound, a text."""

    timeout_secs: float
    memory_bytes: int
    max_pages: int
    total_secs: float = 6 * 3600.0


class Death(Exception):
    """The child ended before it was done; `cause` is what that means for the document.

    `was_killed` says that the reason need not be the file: the kernel was short of memory, or somebody with
    a reason of their own sent the signal.
    """

    def __init__(self, cause: IngestionError, *, was_killed: bool = False) -> None:
        self.cause, self.was_killed = cause, was_killed
        super().__init__(cause.message)


class Child:
    """A context manager around the process; leaving it kills what is left."""

    def __init__(self, path: Path, request: Request, limits: SandboxLimits) -> None:
        self._path, self._request, self._limits = path, request, limits
        self._expired = False

    def __enter__(self) -> Self:
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(  # noqa: S603
            command(self._path, self._request, self._limits),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            pipesize=BLOCK_BYTES,
            env=ENVIRONMENT,
            process_group=0,
        )
        self.grant_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log_tail()
        self._log.close()

    def grant_time(self) -> None:
        """Start the clock of the next unit."""
        self._due = time.monotonic() + self._limits.timeout_secs

    def lines(self, while_waiting: Callable[[], None]) -> Iterator[bytes]:
        """Yield what the child writes, line by line; raise `Death` at its end, `Untrue` for an endless line.

        `while_waiting` is called whenever there is nothing to read, several times a second.
        """
        pending = b""
        for block in self._blocks(while_waiting):
            *whole, pending = (pending + block).split(b"\n")
            yield from whole
            if len(pending) > MAX_LINE_BYTES:
                raise Untrue("a line without end")
        raise self._death()

    def _blocks(self, while_waiting: Callable[[], None]) -> Iterator[bytes]:
        assert self._process.stdout is not None
        readable = select.poll()
        readable.register(self._process.stdout, select.POLLIN | select.POLLHUP)
        while True:
            if not readable.poll(0):
                while_waiting()
                if time.monotonic() > self._due:
                    self._expired = True
                    self._kill()
                elif not readable.poll(POLL_MS):
                    continue
            block = os.read(self._process.stdout.fileno(), BLOCK_BYTES)
            if not block:
                return
            yield block

    def _kill(self) -> None:
        # Not yet waited for, so the process group can't have become someone else's.
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def _death(self) -> Death:
        returncode = self._process.wait()
        if self._expired or returncode == -signal.SIGXCPU:
            return Death(ExtractionTimeout())
        if returncode == -signal.SIGKILL:
            return Death(OutOfMemory(), was_killed=True)
        if returncode < 0:
            what = "The file makes its reader crash. Open and save it again, then upload it once more."
            return Death(Corrupted(what))
        return Death(Internal())

    def _log_tail(self) -> None:
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - LOGGED_BYTES))
        printed = self._log.read().decode(errors="replace").strip()
        if printed:
            logger.info("Extraction of %s printed: %s", self._path, printed)


def command(path: Path, request: Request, limits: SandboxLimits) -> list[str]:
    """Return the words that start the child."""
    # A backstop only: should this process stop watching, the kernel still ends an endless loop.
    cpu_secs = int(limits.total_secs) * (os.cpu_count() or 1)
    return [
        *(sys.executable, "-m", "ingestion.sandbox", str(path.resolve())),
        *("--memory-bytes", str(limits.memory_bytes)),
        *("--cpu-secs", str(cpu_secs)),
        *("--max-pages", str(limits.max_pages)),
        *(("--units", ",".join(map(str, request.units))) if request.units else ()),
        *(("--attachments", str(request.attachments.resolve())) if request.attachments else ()),
        *(("--main-content",) if request.main_content else ()),
        *(("--deep",) if request.deep else ()),
        *(("--simple",) if request.simple else ()),
    ]
