"""System calls that the standard library has no names for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: Any) -> int:
    """Call the kernel; raise `OSError` if it refuses."""
    done = int(_libc.syscall(ctypes.c_long(number), *arguments))
    return _checked(done)


def prctl(option: int, *arguments: int) -> int:
    """Change or ask what belongs to this process; raise `OSError` if the kernel refuses."""
    given = [*arguments, *[0] * (4 - len(arguments))]
    return _checked(int(_libc.prctl(option, *map(ctypes.c_ulong, given))))


def _checked(done: int) -> int:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done
