"""Memory that was freed, and that the C library keeps for later."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress


def give_memory_back() -> None:
    """Return free memory to the system; takes some milliseconds. Does nothing where only glibc can."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # musl has no such function
            ctypes.CDLL(None).malloc_trim(0)
