"""A small process that ends process groups once their supervisor is gone, however that happened.

It reads `+GROUP` and `-GROUP` lines from a pipe that only the supervisor holds open. When the pipe closes,
the groups still on the list have lost their supervisor.
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
        # Without -P, modules beside this file could stand in for the standard library's.
        command = [sys.executable, "-P", __file__]
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )

    def hold(self, group: int) -> None:
        """End this group if we die."""
        self._write(f"+{group}\n")

    def release(self, group: int) -> None:
        """Forget a group that has ended."""
        self._write(f"-{group}\n")

    def close(self) -> None:
        """End whatever is still held."""
        self._process.communicate()

    def _write(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line)


def groups_left(lines: Iterable[str]) -> set[int]:
    """Return the groups that were held and never released."""
    groups: set[int] = set()
    for line in lines:
        change = groups.add if line.startswith("+") else groups.discard
        change(int(line[1:]))
    return groups


def end(groups: set[int]) -> None:
    """Ask the groups to stop, and kill those that have not done so in time."""
    groups = {group for group in groups if send(group, signal.SIGTERM)}
    deadline = time.monotonic() + GRACE_SECONDS
    while groups and time.monotonic() < deadline:
        time.sleep(0.1)
        groups = {group for group in groups if send(group, 0)}
    for group in groups:
        send(group, signal.SIGKILL)


def send(group: int, number: int) -> bool:
    """Signal a process group and tell whether it is there."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    end(groups_left(sys.stdin))
