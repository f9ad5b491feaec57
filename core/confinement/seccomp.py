"""seccomp: which system calls a process may make from now on (Linux 3.17, on x86-64 and 64-bit ARM).

The list names refused calls, not allowed ones: numerical libraries use many calls, and new versions more.
Calls newer than this list are refused as unknown, which libraries are prepared for.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.confinement.kernel import prctl

PR_GET_SECCOMP, PR_SET_SECCOMP = 21, 22
MODE_FILTER = 2

# linux/bpf_common.h: load a word, compare it, return.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000

CLONE_THREAD = 0x10000
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
# x86-64 has a second set of numbers for the same calls.
X32 = 0x40000000
# mseal, of Linux 6.10.
LAST_KNOWN = 462

# name, number on x86-64, number on 64-bit ARM (-: not there).
REFUSED = (
    # Network and sockets of this machine: PostgreSQL listens on one.
    "socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202, "
    "accept4 288 242, sendto 44 206, sendmsg 46 211, sendmmsg 307 269, recvmsg 47 212, "
    "recvmmsg 299 243, "
    # Other programs and processes.
    "execve 59 221, execveat 322 281, fork 57 -, vfork 58 -, unshare 272 97, setns 308 268, "
    "setpgid 109 154, setsid 112 157, ptrace 101 117, process_vm_readv 310 270, "
    "process_vm_writev 311 271, process_madvise 440 440, process_mrelease 448 448, kcmp 312 272, "
    "pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, tkill 200 130, "
    "rt_sigqueueinfo 129 138, setpriority 141 140, ioprio_set 251 30, sched_setparam 142 118, "
    "sched_setscheduler 144 119, sched_setattr 314 274, migrate_pages 256 238, move_pages 279 239, "
    # Memory and messages that processes share by number.
    "shmget 29 194, shmat 30 196, shmctl 31 195, msgget 68 186, msgsnd 69 189, msgrcv 70 188, "
    "msgctl 71 187, semget 64 190, semop 65 193, semctl 66 191, semtimedop 220 192, "
    "mq_open 240 180, mq_unlink 241 181, mq_notify 244 184, "
    # What Landlock does not control: modes, owners, times, attributes, special files.
    "chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, "
    "lchown 94 -, fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, "
    "truncate 76 45, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, "
    "lremovexattr 198 15, fremovexattr 199 16, mknod 133 -, mknodat 259 33, symlink 88 -, "
    "symlinkat 266 36, link 86 -, linkat 265 37, name_to_handle_at 303 264, "
    "open_by_handle_at 304 265, sync 162 81, syncfs 306 267, "
    # Large and new parts of the kernel, in which most of its faults are found.
    "bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, "
    "io_uring_enter 426 426, io_uring_register 427 427, fanotify_init 300 262, keyctl 250 219, "
    "add_key 248 217, request_key 249 218, personality 135 92, modify_ldt 154 -, "
    # Calls for root.
    "setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147, "
    "setresgid 119 149, setfsuid 122 151, setfsgid 123 152, setgroups 116 159, mount 165 40, "
    "umount2 166 39, pivot_root 155 41, chroot 161 51, move_mount 429 429, open_tree 428 428, "
    "fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, "
    "swapon 167 224, swapoff 168 225, init_module 175 105, finit_module 313 273, "
    "delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294, reboot 169 142, "
    "syslog 103 116, acct 163 89, quotactl 179 60, quotactl_fd 443 443, settimeofday 164 170, "
    "clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, sethostname 170 161, "
    "setdomainname 171 162, vhangup 153 58, iopl 172 -, ioperm 173 -, "
)


@dataclass(frozen=True, slots=True)
class Machine:
    """The filter's name of a processor architecture, and the numbers of calls whose arguments are checked."""

    audit_name: int
    column: int
    clone: int
    clone3: int
    kill: int
    tgkill: int
    rt_tgsigqueueinfo: int
    prlimit: int
    set_affinity: int
    fcntl: int


MACHINES = {
    "x86_64": Machine(0xC000003E, 1, 56, 435, 62, 234, 297, 302, 203, 72),
    "aarch64": Machine(0xC00000B7, 2, 220, 435, 129, 131, 240, 261, 122, 25),
}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def is_offered() -> bool:
    """Return whether the kernel filters system calls, and we know this architecture's call numbers."""
    if sys.platform != "linux" or os.uname().machine not in MACHINES:
        return False
    try:
        return prctl(PR_GET_SECCOMP) >= 0
    except OSError:
        return False


def restrict() -> None:
    """Refuse the listed calls to this process, for good. It needs `no_new_privs`."""
    instructions = b"".join(program(MACHINES[os.uname().machine], os.getpid()))
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    given = _Program(len(instructions) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.addressof(given))


def program(machine: Machine, pid: int) -> Iterator[bytes]:
    """Yield the filter's instructions for the process `pid`."""
    refusal, permission = _instruction(RETURN, ERROR | errno.EPERM), _instruction(RETURN, ALLOW)
    unknown = _instruction(RETURN, ERROR | errno.ENOSYS)
    yield from [
        _instruction(LOAD, MACHINE_AT),
        _instruction(EQUAL, machine.audit_name, 1, 0),
        _instruction(RETURN, KILL),
    ]
    yield _instruction(LOAD, NUMBER_AT)
    if machine.column == 1:
        yield from [_instruction(AT_LEAST, X32, 0, 1), _instruction(RETURN, KILL)]
    yield from [_instruction(AT_LEAST, LAST_KNOWN + 1, 0, 1), unknown]
    for number in refused_calls(machine):
        yield from [_instruction(EQUAL, number, 0, 1), refusal]
    # Allow threads but no processes. clone3 takes its arguments in memory, so it is refused and libraries use
    # clone.
    yield from [_instruction(EQUAL, machine.clone3, 0, 1), unknown]
    yield from _decide_by_argument(machine.clone, 0, [(ANY_BIT, CLONE_THREAD)], permission, refusal)
    for number in (machine.kill, machine.tgkill, machine.rt_tgsigqueueinfo):
        yield from _decide_by_argument(number, 0, [(EQUAL, pid)], permission, refusal)
    own = [(EQUAL, 0), (EQUAL, pid)]
    yield from _decide_by_argument(machine.prlimit, 0, own, permission, refusal)
    # Libraries distribute their threads over the cores and complain if they can't, so the call seems to
    # succeed.
    yield from _decide_by_argument(machine.set_affinity, 0, own, permission, _instruction(RETURN, ERROR))
    # A file can send a signal to any process when it becomes readable.
    signals = [(EQUAL, F_SETOWN), (EQUAL, F_SETOWN_EX), (EQUAL, F_SETSIG)]
    yield from _decide_by_argument(machine.fcntl, 1, signals, refusal, permission)
    yield permission


def refused_calls(machine: Machine) -> list[int]:
    """Return the numbers of the calls that are refused with any arguments."""
    rows = [entry.split() for entry in REFUSED.split(", ") if entry]
    return [int(row[machine.column]) for row in rows if row[machine.column] != "-"]


def _decide_by_argument(
    number: int, index: int, tests: Sequence[tuple[int, int]], then: bytes, otherwise: bytes
) -> Iterator[bytes]:
    """Yield instructions that decide a call by the lower half of an argument, which is all that the kernel
    reads."""
    decided = [_instruction(LOAD, ARGUMENTS_AT + 8 * index)]
    for test, value in tests:
        decided += [_instruction(test, value, 0, 1), then]
    decided.append(otherwise)
    yield _instruction(EQUAL, number, 0, len(decided))
    yield from decided


def _instruction(what: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction; a comparison skips `if_true` or `if_false` of the following ones."""
    return struct.pack("=HBBI", what, if_true, if_false, value)
