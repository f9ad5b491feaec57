"""The first thing that each of our processes does, before it reads a setting or loads a library."""

from __future__ import annotations

import ctypes
import os
import sys

from core.process.file_modes import UMASK
from core.process.telemetry import switch_off

PR_SET_DUMPABLE = 4  # linux/prctl.h


def harden_this_process() -> None:
    """Make new files private, switch telemetry off, and hide memory and environment from other processes."""
    os.umask(UMASK)
    switch_off()
    hide_memory()


def hide_memory() -> None:
    """Refuse debuggers, core files and `/proc/<pid>/environ` to other processes of this account.

    The protection ends when a new program starts: each program must call this itself.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
