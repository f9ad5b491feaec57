"""The worker's side: start the child, watch its limits, read its findings."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ingestion.errors import Corrupted, ExtractionTimeout, IngestionError, Internal, OutOfMemory
from ingestion.extract.base import Finding
from ingestion.sandbox.wire import MAX_LINE_BYTES, Untrue, read_line

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
LOGGED_BYTES = 4000


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one extraction may use."""

    timeout_secs: float
    memory_bytes: int
    max_pages: int


def extract(path: Path, limits: SandboxLimits) -> Iterator[Finding]:
    """Yield what the child finds in the file; raise `IngestionError` when it fails or has to be stopped."""
    with _child(path, limits) as child, _deadline(child, limits.timeout_secs) as expired:
        try:
            yield from _findings(child)
        except Untrue as lie:
            raise Internal from lie
        except EOFError:
            raise _cause_of_death(child.wait(), expired=expired.is_set()) from None


def _findings(child: subprocess.Popen[bytes]) -> Iterator[Finding]:
    assert child.stdout is not None
    while True:
        line = child.stdout.readline(MAX_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise EOFError
        finding = read_line(line)
        if finding is None:
            return
        yield finding


@contextmanager
def _child(path: Path, limits: SandboxLimits) -> Iterator[subprocess.Popen[bytes]]:
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(  # noqa: S603
            _command(path, limits),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            # Nothing of ours: a parser that a file has taken over finds no keys and no database address.
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            process_group=0,
        )
        try:
            yield child
        finally:
            _end(child)
            _log_tail(log, path)


def _command(path: Path, limits: SandboxLimits) -> list[str]:
    return [
        *(sys.executable, "-m", "ingestion.sandbox", str(path.resolve())),
        *("--memory-bytes", str(limits.memory_bytes)),
        # A backstop only: should this process stop watching, the kernel still ends an endless loop.
        *("--cpu-secs", str(int(limits.timeout_secs) + 60)),
        *("--max-pages", str(limits.max_pages)),
    ]


def _end(child: subprocess.Popen[bytes]) -> None:
    _kill(child)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    # Not yet waited for, so the process group can't have become someone else's.
    if child.returncode is None:
        os.killpg(child.pid, signal.SIGKILL)


def _log_tail(log: IO[bytes], path: Path) -> None:
    log.seek(max(0, log.seek(0, os.SEEK_END) - LOGGED_BYTES))
    printed = log.read().decode(errors="replace").strip()
    if printed:
        logger.info("Extraction of %s printed: %s", path, printed)


@contextmanager
def _deadline(child: subprocess.Popen[bytes], timeout_secs: float) -> Iterator[threading.Event]:
    """Kill the child when its time is over; the yielded event says whether that happened."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _kill(child)

    timer = threading.Timer(timeout_secs, expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _cause_of_death(returncode: int, *, expired: bool) -> IngestionError:
    if expired or returncode == -signal.SIGXCPU:
        return ExtractionTimeout()
    if returncode == -signal.SIGKILL:
        return OutOfMemory()  # nobody else sends it but the kernel's out-of-memory killer
    if returncode < 0:
        return Corrupted("The file makes its reader crash. Open and save it again, then upload it once more.")
    return Internal()
