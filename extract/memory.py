"""Saves address space, of which the limited child process has little."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from extract.errors import OutOfMemory

M_ARENA_MAX = -8  # malloc.h
ARENAS = 2


def keep_few_arenas() -> None:
    """Let all threads allocate from the same few arenas.

    By default glibc reserves 64 MiB of address space for nearly every new thread. The threads of a model take
    half a gigabyte that way. Call this before a model is loaded.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


@contextmanager
def allocation_errors() -> Iterator[None]:
    """Raise `OutOfMemory` where a model's library reports that it got no memory."""
    try:
        yield
    except Exception as error:
        # Each library has its own exception; only the word is common to them.
        if "alloc" in str(error) or "Insufficient memory" in str(error):
            raise OutOfMemory from error
        raise
