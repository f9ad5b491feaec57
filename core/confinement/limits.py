"""Limits that a child process sets for itself before it reads a file."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from core.confinement import confine

PR_SET_PDEATHSIG = 1  # linux/prctl.h
# Libraries open a few dozen files, and a thread for each core and model.
MAX_OPEN_FILES = 256
MAX_TASKS = 4096
# Besides the file itself: a child writes attachments, which the file contains, and lines for the log.
EXTRA_WRITE_BYTES = 64 * 2**20
# One process at normal priority weighs as much as three of these.
NICENESS = 5


def limit_this_process(
    memory_bytes: int,
    cpu_secs: int,
    file: Path | None = None,
    writable: Sequence[Path] = (),
    readable: Sequence[Path] = (),
) -> None:
    """Limit what this process may use, confine it to its files, and end it when the parent exits.

    Memory is address space. `file` is what it reads, and bounds what it writes. `readable` is what it may
    open besides, and `writable` are the folders in which it may create files (`core.confinement`).
    """
    limit_use(memory_bytes, cpu_secs)
    _limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, EXTRA_WRITE_BYTES + (file.stat().st_size if file else 0))
    if sys.platform == "linux":
        # The limit is for the whole account; it matters where the kernel can't forbid new processes.
        _limit(resource.RLIMIT_NPROC, MAX_TASKS)
        _die_with_parent()
    confine([*([file] if file else []), *readable], writable)


def lower_priority() -> None:
    """Leave the processor to the web server's loop when both need it; child processes inherit this.

    All streams and health checks wait for that loop; only one document or answer waits for this process. Who
    has this priority already, or a lower one, keeps it.
    """
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def limit_use(memory_bytes: int, cpu_secs: int) -> None:
    """Cap address space and processor time, and leave no core file."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, cpu_secs)
    # macOS knows the limit on address space but does not enforce it.
    if sys.platform == "linux":
        _limit(resource.RLIMIT_AS, memory_bytes)


def _limit(kind: int, most: int) -> None:
    """Set a limit for good, or keep a lower one."""
    _, highest = resource.getrlimit(kind)
    most = most if highest == resource.RLIM_INFINITY else min(most, highest)
    resource.setrlimit(kind, (most, most))


def _die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the parent dies; elsewhere the child ends at its next write to the
    broken pipe."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
