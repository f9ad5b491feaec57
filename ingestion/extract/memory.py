"""Address space, of which the limited child process has little."""

from __future__ import annotations

import ctypes
import sys

M_ARENA_MAX = -8  # malloc.h
ARENAS = 2


def keep_few_arenas() -> None:
    """Let all threads allocate from the same few arenas.

    By default glibc reserves 64 MiB of address space for nearly each new thread; half a gigabyte goes that
    way with the threads of a model. Call it before a model is loaded.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
