"""A small process that ends process groups after their supervisor has died, for whatever reason.

It reads `+GROUP` and `-GROUP` lines from a pipe that only the supervisor holds open. When the pipe closes,
the supervisor is gone, and the groups still on the list are ended.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

GRACE_SECONDS = 10.0


class OrphanGuard:
    """The supervisor's end of the pipe."""

    def __init__(self) -> None:
        # Without -P, modules in this file's folder could replace those of the standard library.
        command = [sys.executable, "-P", __file__]
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """End this group if this process dies."""
        self._write(f"+{group}\n")

    def unwatch(self, group: int) -> None:
        """Remove a group that has ended."""
        self._write(f"-{group}\n")

    def close(self) -> None:
        """End all groups still watched."""
        self._process.communicate()

    def _write(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line)


def unfinished_groups(lines: Iterable[str]) -> set[int]:
    """Return the groups that were added and not removed."""
    groups: set[int] = set()
    for line in lines:
        change = groups.add if line.startswith("+") else groups.discard
        change(int(line[1:]))
    return groups


def end_groups(groups: set[int]) -> None:
    """Send SIGTERM to the groups, and kill those that still run after some seconds."""
    groups = {group for group in groups if send_signal(group, signal.SIGTERM)}
    deadline = time.monotonic() + GRACE_SECONDS
    while groups and time.monotonic() < deadline:
        time.sleep(0.1)
        groups = {group for group in groups if send_signal(group, 0)}
    for group in groups:
        send_signal(group, signal.SIGKILL)


def send_signal(group: int, number: int) -> bool:
    """Signal a process group; return whether it exists."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    end_groups(unfinished_groups(sys.stdin))
