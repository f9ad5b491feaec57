"""Starting the child.

On Linux a fork server has the readers loaded already, which takes longer than reading a short file:

    worker ──arguments, pipes──▶ server ──fork──▶ keeper ──fork──▶ child
       └──────────────── connection ────────────────┘ hangs up: kill; child's end: how it ended

Elsewhere each child is a program of its own: system libraries of macOS do not survive a fork.
"""

from __future__ import annotations

import atexit
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from core.process.telemetry import SWITCHES

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "extract.sandbox"]
# Nothing of ours: a parser taken over by a file finds no keys and no database address.
ENVIRONMENT = {
    "PATH": os.defpath,
    # The account's own home folder is of no use to a reader.
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Each of its threads reserves address space, which is limited in the child.
    "OPENBLAS_NUM_THREADS": "1",
    **SWITCHES,
}
STARTED = b"1"
CAN_FORK = platform.system() == "Linux"


class Process(Protocol):
    """A running child."""

    def kill(self) -> None:
        """End it and all that it started, at once; it may have exited already."""

    def wait(self) -> int:
        """Wait for its exit; return its exit status, or minus the number of the signal that killed it."""


def start(arguments: Sequence[str], out: int, log: int) -> Process:
    """Start a child that writes findings to the descriptor `out`, and libraries' output to `log`."""
    if CAN_FORK:
        return _server.start(arguments, out, log)
    return SpawnedChild([*PROGRAM, *arguments], out, log)


def server_pid() -> int | None:
    """Return the id of the fork server's process, whose grandchildren read files; None without one."""
    return _server.pid


class SpawnedChild:
    """A child that is a program of its own."""

    def __init__(self, command: Sequence[str], out: int, log: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            env=ENVIRONMENT,
            start_new_session=True,
        )

    def kill(self) -> None:
        """See `Process`."""
        # It was not waited for yet, so its process group can't belong to another process now.
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> int:
        """See `Process`."""
        return self._process.wait()


class ForkedChild:
    """A child of the fork server, reached by the connection to its keeper."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._ended: int | None = None

    def kill(self) -> None:
        """See `Process`."""
        if self._ended is None:
            self._connection.shutdown(socket.SHUT_WR)

    def wait(self) -> int:
        """See `Process`."""
        if self._ended is None:
            with self._connection:
                status = self._connection.recv(16)
            # A keeper that sends nothing was killed, and its child with it.
            self._ended = int(status) if status else -signal.SIGKILL
        return self._ended


class ForkServer:
    """The worker's side of the fork server; started on first use, and again if it has exited."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[socket.socket, subprocess.Popen[bytes]] | None = None

    def start(self, arguments: Sequence[str], out: int, log: int) -> ForkedChild:
        """Let the server start a child."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            descriptors = [theirs.fileno(), out, log]
            if not self._ask(arguments, descriptors):
                self._stop()
                if not self._ask(arguments, descriptors):
                    raise ChildProcessError("the process that starts extractions does not start")
        return ForkedChild(ours)

    @property
    def pid(self) -> int | None:
        """The id of the server's process, if it runs."""
        running = self._running
        return running[1].pid if running else None

    def stop(self) -> None:
        """End the server; its children continue."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._running is not None:
            control, server = self._running
            control.close()
            server.wait()
            self._running = None

    def _ask(self, arguments: Sequence[str], descriptors: list[int]) -> bool:
        """Send a request; return whether a server is there to receive it."""
        if self._running is None:
            self._running = _start_server()
        control, _ = self._running
        try:
            socket.send_fds(control, [json.dumps(arguments).encode() + b"\n"], descriptors)
            return control.recv(1) == STARTED
        except (BrokenPipeError, ConnectionResetError):
            return False


def _start_server() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = socket.socketpair()
    with theirs:
        # The server ends when our side of the connection closes, for whatever reason.
        server = subprocess.Popen(  # noqa: S603
            [*PROGRAM, "--serve", str(theirs.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            env=ENVIRONMENT,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return ours, server


_server = ForkServer()
atexit.register(_server.stop)
