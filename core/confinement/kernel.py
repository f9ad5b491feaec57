"""System calls that the standard library has no names for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h

_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: Any) -> int:
    """Call the kernel; raise `OSError` if it refuses."""
    done = int(_libc.syscall(ctypes.c_long(number), *arguments))
    return _checked(done)


def prctl(option: int, *arguments: int) -> int:
    """Change or ask what belongs to this process; raise `OSError` if the kernel refuses."""
    given = [*arguments, *[0] * (4 - len(arguments))]
    return _checked(int(_libc.prctl(option, *map(ctypes.c_ulong, given))))


def set_capabilities(bits: int) -> None:
    """Keep these powers of root (linux/capability.h, the first 32) in this process, not its programs."""
    if number := CAPSET.get(os.uname().machine):
        header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
        effective_permitted_inheritable = (ctypes.c_uint32 * 6)(bits, bits, 0)
        syscall(number, ctypes.byref(header), ctypes.byref(effective_permitted_inheritable))


def _checked(done: int) -> int:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done
