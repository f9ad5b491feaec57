"""What the child process takes upon itself before it looks at a file."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def limit_this_process(memory_bytes: int, cpu_secs: int) -> None:
    """Cap address space and processor time, leave no core file, and die when the parent dies."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_secs, cpu_secs))
    # macOS knows the limit for the address space, but does not keep to it.
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        _die_with_parent()


def _die_with_parent() -> None:
    """Ask for SIGKILL at the parent's death; elsewhere the broken pipe ends the child at its next finding."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
