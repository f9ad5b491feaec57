"""Processes with a deadline in which untrusted text is analysed for an answer.

  web process ──task, contexts──▶ child        one thread of the web process waits for each task
              ◀──texts to embed──              the model stays in the web process
              ──vectors──▶
              ◀──result──                      no result in time: the child is killed, another one started

Matching a pattern or sorting marks holds Python's lock. In the web process, slow text would stop all streams
and health checks. Here it costs one answer: docs/adr/0024-text-processes.md.
"""

from __future__ import annotations

import atexit
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

from django.conf import settings

from core.errors import Timeout

Embed = Callable[[Any], Any]
"""Returns an array for texts: how they are sent, and what it holds, is between the task and its caller."""

START_SECS = 60.0
"""Loading takes a second or two; a machine under load may need more."""
ROOT = Path(__file__).resolve().parent.parent

logger = logging.getLogger(__name__)


class TextProcessExited(Exception):
    """A process has exited before it returned a result."""


class TextProcess:
    """One child, used by one thread at a time."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "search.text_child", str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # A signal to the web process's group must not stop running answers.
                process_group=0,
            )
        self._connection: Connection[Any, Any] = Connection(ours.detach())
        self._is_ready = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def run(self, task: str, arguments: Sequence[object], embed: Embed, secs: float) -> Any:
        """Return the result of a task; raise `TimeoutError` if it takes longer, not counting embedding.

        Raises `TextProcessExited` if the process exits, `RuntimeError` with its message if the task fails.
        """
        try:
            if not self._is_ready:
                self._receive(START_SECS)
                self._is_ready = True
            self._connection.send((task, arguments, secs))
            return self._result(embed, secs)
        except (EOFError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise TextProcessExited from error

    def kill(self) -> None:
        """Kill the process; it may have exited already."""
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def _result(self, embed: Embed, secs: float) -> Any:
        while True:
            begun = time.monotonic()
            match self._receive(secs):
                case "texts", texts:
                    secs -= time.monotonic() - begun
                    try:
                        vectors = embed(texts)
                    except BaseException:
                        # The child waits for vectors, and continues with the next task without them.
                        self._connection.send(None)
                        self._receive(START_SECS)
                        raise
                    self._connection.send(vectors)
                case "failed", cause:
                    raise RuntimeError(cause)
                case "result", result:
                    return result
                case other:
                    raise RuntimeError(f"the child says {other!r}")

    def _receive(self, secs: float) -> Any:
        if not self._connection.poll(max(0.0, secs)):
            raise TimeoutError
        return self._connection.recv()


class TextProcesses:
    """A number of children, each started on first use or by `start`."""

    def __init__(self, count: int) -> None:
        self._idle: LifoQueue[TextProcess | None] = LifoQueue()
        self._count = count
        for _ in range(count):
            self._idle.put(None)

    def start(self) -> None:
        """Start those that are not running, without waiting for them."""
        taken = [self._idle.get() for _ in range(self._idle.qsize())]
        for child in taken:
            self._idle.put(child or TextProcess())

    def run(self, task: str, *arguments: object, embed: Embed) -> Any:
        """Return what a task of `search.text_tasks` returns, in a thread of the caller's.

        Raise `Timeout` if it takes longer than `ANSWER_TEXT_SECS`, or if all children are busy so long.
        """
        secs = settings.ANSWER_TEXT_SECS
        try:
            child = self._idle.get(timeout=secs)
        except Empty:
            raise Timeout("Too many answers are being checked. Try again in a moment.") from None
        try:
            child = child or TextProcess()
            try:
                result = child.run(task, arguments, embed, secs)
            except TextProcessExited:
                # It may have been killed from outside while idle, so try once more.
                child.kill()
                child = TextProcess()
                result = child.run(task, arguments, embed, secs)
        except (TimeoutError, TextProcessExited) as error:
            logger.warning("Text took too long to %s: the process %s is replaced.", task, child and child.pid)
            if child:
                child.kill()
            child = None
            raise Timeout("The text took too long to be worked on. Ask about less of it.") from error
        finally:
            self._idle.put(child)
        return result

    def stop(self) -> None:
        """End the children that are idle."""
        taken = [self._idle.get() for _ in range(self._idle.qsize())]
        for child in taken:
            if child:
                child.kill()
            self._idle.put(None)


text_processes = TextProcesses(os.cpu_count() or 1)
atexit.register(text_processes.stop)
