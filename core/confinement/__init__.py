"""Walls around a process that reads a stranger's file, which may take it over.

Behind them it can read its file and the libraries, and write where it was told to. It reaches nothing else:
no network, no socket of this machine, no other file, program or process. They are made of what Linux offers
to any account: `landlock` for files, `seccomp` for system calls. Neither can be taken off again.
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
class Walls:
    """What the kernel offers: the version of Landlock, 0 for none, and whether it filters system calls."""

    landlock: int
    seccomp: bool

    @property
    def missing(self) -> list[str]:
        """Say in a sentence each what a parser that was taken over could do here."""
        gaps = []
        if not self.landlock:
            gaps.append("No Landlock: it could read and change every file that Locus may.")
        elif self.landlock < landlock.SIGNALS_SINCE and not self.seccomp:
            gaps.append(
                f"Landlock {self.landlock} is old: it could send signals to other processes of Locus."
            )
        if not self.seccomp:
            gaps.append("No seccomp: it could use the network and run programs.")
        return gaps

    def __str__(self) -> str:
        named = [
            *([f"Landlock {self.landlock}"] if self.landlock else []),
            *(["seccomp"] if self.seccomp else []),
        ]
        return " and ".join(named) or "limits on memory and time alone"


def offered() -> Walls:
    """Ask the kernel, changing nothing."""
    return Walls(landlock.version(), seccomp.is_offered())


def confine(readable: Sequence[Path] = (), writable: Sequence[Path] = ()) -> None:
    """Wall this process in, for good: to the libraries, files or folders to read, and folders to write to.

    Call it with one thread running, before the first byte of a stranger. What the kernel does not offer is
    left out; raises `OSError` if it refuses what it offers.
    """
    if sys.platform != "linux":
        return
    walls = offered()
    hide_memory()
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if os.geteuid() == 0:
        # Root's powers would reach past file modes and signals.
        set_capabilities(0)
    if walls.landlock:
        landlock.restrict(walls.landlock, readable, writable)
    if walls.seccomp:
        seccomp.restrict()
