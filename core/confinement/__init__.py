"""Confines a process that reads an untrusted file, which may take the process over.

A confined process can read its file and the libraries, and write to the folders it was given. It reaches
nothing else: no network, no socket of this machine, no other file, program or process. Linux offers the means
to any account: `landlock` for files, `seccomp` for system calls. Neither can be removed again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.confinement import landlock, seccomp
from core.confinement.kernel import prctl, set_capabilities
from core.process.hardening import hide_memory

PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the kernel offers: the version of Landlock (0 for none), and whether it filters system calls."""

    landlock: int
    seccomp: bool

    @property
    def missing(self) -> list[str]:
        """One sentence for each thing that a hijacked parser could still do here."""
        gaps = []
        if not self.landlock:
            gaps.append("No Landlock: a hijacked parser could read and change every file that Locus may.")
        elif self.landlock < landlock.SIGNALS_SINCE and not self.seccomp:
            gaps.append(f"Landlock {self.landlock} is old: a hijacked parser could signal other processes.")
        if not self.seccomp:
            gaps.append("No seccomp: a hijacked parser could use the network and run programs.")
        return gaps

    def __str__(self) -> str:
        named = [
            *([f"Landlock {self.landlock}"] if self.landlock else []),
            *(["seccomp"] if self.seccomp else []),
        ]
        return " and ".join(named) or "only limits on memory and time"


def available_confinement() -> Confinement:
    """Return what the kernel offers, without changing anything."""
    return Confinement(landlock.version(), seccomp.is_offered())


def confine(readable: Sequence[Path] = (), writable: Sequence[Path] = ()) -> None:
    """Confine this process for good: libraries and `readable` can be read, `writable` folders written.

    Call it with one thread running, before the first untrusted byte is read. What the kernel does not offer
    is left out. Raises `OSError` if the kernel refuses what it offers.
    """
    if sys.platform != "linux":
        return
    confinement = available_confinement()
    hide_memory()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if os.geteuid() == 0:
        # Root's capabilities would bypass file modes and permission checks of signals.
        set_capabilities(0)
    if confinement.landlock:
        landlock.restrict(confinement.landlock, readable, writable)
    if confinement.seccomp:
        seccomp.restrict()
