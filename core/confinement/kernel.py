"""System calls that the standard library lacks."""

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
    return _raise_on_error(done)


def prctl(option: int, *arguments: int) -> int:
    """Change or query an attribute of this process; raise `OSError` if the kernel refuses."""
    given = [*arguments, *[0] * (4 - len(arguments))]
    return _raise_on_error(int(_libc.prctl(option, *map(ctypes.c_ulong, given))))


def set_capabilities(bits: int) -> None:
    """Keep only these of the first 32 capabilities (linux/capability.h), and none in programs it starts."""
    if number := CAPSET.get(os.uname().machine):
        header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
        effective_permitted_inheritable = (ctypes.c_uint32 * 6)(bits, bits, 0)
        syscall(number, ctypes.byref(header), ctypes.byref(effective_permitted_inheritable))


def _raise_on_error(done: int) -> int:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done
