"""What the child process takes upon itself before it looks at a file."""

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
# Beside the file itself: what is written are attachments, which it contains, and lines for the log.
WRITTEN_BYTES = 64 * 2**20
# One process at normal priority weighs as much as three of these.
NICENESS = 5


def limit_this_process(
    memory_bytes: int, cpu_secs: int, file: Path | None = None, writable: Sequence[Path] = ()
) -> None:
    """Cap what this process may use, wall it in with the `file` it is to read, and die when the parent dies.

    Memory is address space. `writable` are the folders where it may make files (`core.confinement`).
    """
    limit_use(memory_bytes, cpu_secs)
    _limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, WRITTEN_BYTES + (file.stat().st_size if file else 0))
    if sys.platform == "linux":
        # Of the whole account: a bound for where the kernel can't forbid new processes.
        _limit(resource.RLIMIT_NPROC, MAX_TASKS)
        _die_with_parent()
    confine([file] if file else [], writable)


def give_way() -> None:
    """Leave the processor to the web server's loop where both want it; its children inherit this.

    Streams and health checks of everybody wait for that loop, only one document or answer for this process.
    """
    os.nice(NICENESS)


def limit_use(memory_bytes: int, cpu_secs: int) -> None:
    """Cap address space and processor time, and leave no core file."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, cpu_secs)
    # macOS knows the limit for the address space, but does not keep to it.
    if sys.platform == "linux":
        _limit(resource.RLIMIT_AS, memory_bytes)


def _limit(kind: int, most: int) -> None:
    """Set a limit for good, or leave a lower one that is there."""
    _, highest = resource.getrlimit(kind)
    most = most if highest == resource.RLIM_INFINITY else min(most, highest)
    resource.setrlimit(kind, (most, most))


def _die_with_parent() -> None:
    """Ask for SIGKILL at the parent's death; elsewhere the broken pipe ends the child at its next finding."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
