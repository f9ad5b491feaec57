"""The fork server: loads the readers once, and forks a keeper and a child for each file."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from extract.sandbox.processes import STARTED

# The modules that read most files and load slowest.
PRELOADED = ("extract.registry", "extract.pdf.reader", "extract.markup.webpage")
BLOCK_BYTES = 2**16


def serve(control: socket.socket) -> list[str] | None:
    """Fork a child for each request until the worker closes the connection, then return None.

    In each child, return its arguments; its standard output and error already lead to the worker.
    """
    for module in PRELOADED:
        import_module(module)
    # Loaded objects stay for ever: no child needs to search them for cycles, which would copy their memory
    # pages.
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, descriptors = _request(control)
        if not request:
            return None
        if os.fork() == 0:
            return _fork_child(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(STARTED)


def _request(control: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next request (a line) and the descriptors that came with it; nothing at the end."""
    request, descriptors, _, _ = socket.recv_fds(control, BLOCK_BYTES, 3)
    while request and not request.endswith(b"\n"):
        more = control.recv(BLOCK_BYTES)
        if not more:
            return b"", descriptors
        request += more
    return request, descriptors


def _fork_child(request: bytes, connection: int, out: int, log: int) -> list[str]:
    """Fork into the keeper, which never returns, and its child, which returns its arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        os.close(out)
        os.close(log)
        _keep(child, socket.socket(fileno=connection))
    os.close(connection)
    os.setsid()
    for ours, standard in ((out, 1), (log, 2)):
        os.dup2(ours, standard)
        os.close(ours)
    arguments: list[str] = json.loads(request)
    return arguments


def _keep(child: int, connection: socket.socket) -> NoReturn:
    """Wait for the child's exit and report its status; kill it when the worker closes the connection."""
    ended = os.pidfd_open(child)
    waiting = select.poll()
    waiting.register(connection, select.POLLIN | select.POLLHUP)
    waiting.register(ended, select.POLLIN)
    if ended not in dict(waiting.poll()):
        _kill(child)
    _, status = os.waitpid(child, 0)
    # The worker may have exited.
    with suppress(OSError):
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _kill(child: int) -> None:
    """Kill the child and its process group, which may not exist yet."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
