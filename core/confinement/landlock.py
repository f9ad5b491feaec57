"""Landlock: which files a process may open from now on (Linux 5.13; TCP since 6.7, signals since 6.12).

https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import mimetypes
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.confinement.kernel import syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # on every architecture
ASK_VERSION = 1
PATH_BENEATH = 1

# linux/landlock.h
WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
REMOVE_FILE, MAKE_REGULAR, TRUNCATE = 1 << 5, 1 << 8, 1 << 14
# The rights that each version added: for files, for TCP, and for reaching other processes.
FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: TRUNCATE, 5: 1 << 15}
TCP_RIGHTS = {4: 0b11}
SCOPES = {6: 0b11}
SIGNALS_SINCE = 6

READ = READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | REMOVE_FILE | MAKE_REGULAR | TRUNCATE
OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE

ROOT = Path(__file__).resolve().parents[2]
# Our own modules that readers import; the folder around them holds `.env` and `var`, which they must not
# read.
OWN_PACKAGES = [ROOT / name for name in ("core", "extract")]
SYSTEM = [
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/ssl/openssl.cnf", *mimetypes.knownfiles),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
    # The number of cores and the size of memory; /proc/self is this process alone.
    *("/sys/devices/system", "/sys/fs/cgroup", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


# The size of the structure above in each version; older versions refuse a longer one.
_SIZES = {1: 8, 4: 16, 6: 24}


def version() -> int:
    """Return the kernel's version of Landlock, 0 if it has none or has it switched off."""
    try:
        return syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(ASK_VERSION))
    except OSError:
        return 0


def restrict(known: int, readable: Sequence[Path], writable: Sequence[Path]) -> None:
    """Allow this process to open the named paths and the libraries, and nothing else, for good.

    `known` is the kernel's version. Files that are open already stay open.
    """
    handled = _rights_of_version(FILE_RIGHTS, known)
    rules = _Ruleset(handled, _rights_of_version(TCP_RIGHTS, known), _rights_of_version(SCOPES, known))
    size = max(bytes_ for since, bytes_ in _SIZES.items() if since <= known)
    ruleset = syscall(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in (*libraries(), *readable):
            _allow(ruleset, path, READ & handled)
        _allow(ruleset, Path("/dev/null"), (READ_FILE | WRITE_FILE) & handled)
        for path in writable:
            _allow(ruleset, path, WRITE & handled)
        syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def libraries() -> Iterable[Path]:
    """Return the folders of Python, its packages, our readers and the system's libraries."""
    imported = (Path(entry) for entry in sys.path if entry)
    packages = (path for path in imported if path.resolve() != ROOT)
    return {Path(sys.prefix), Path(sys.base_prefix), *packages, *OWN_PACKAGES, *map(Path, SYSTEM)}


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= OF_FILES
        rule = _PathBeneath(rights, opened)
        syscall(
            ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(opened)


def _rights_of_version(rights: dict[int, int], known: int) -> int:
    return sum(bits for since, bits in rights.items() if since <= known)
