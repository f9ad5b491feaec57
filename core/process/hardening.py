"""What every process of ours does first, before it reads a setting or loads a library."""

from __future__ import annotations

import ctypes
import os
import sys

from core.process.file_modes import UMASK
from core.process.telemetry import switch_off

PR_SET_DUMPABLE = 4  # linux/prctl.h


def harden_this_process() -> None:
    """Make files that only we can read, report to nobody, and show memory and environment to nobody."""
    os.umask(UMASK)
    switch_off()
    hide_memory()


def hide_memory() -> None:
    """Refuse debuggers, core files and `/proc/<pid>/environ` to other processes of this account.

    A new program starts without it: each has to ask for itself.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
