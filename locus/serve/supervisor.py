"""Keeps a few child processes running: restarts what crashes, stops all of them together."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from locus.serve.orphan_guard import OrphanGuard, send

# A child that lived this long had started well; dying sooner, again and again, is a fault that will not pass.
SETTLED_SECONDS = 20.0
MOST_FALSE_STARTS = 5
LONGEST_PAUSE = 30.0
GRACE_SECONDS = 15.0
TICK_SECONDS = 0.1

Say = Callable[[str, str], None]


class GaveUpError(Exception):
    """A child kept ending right after its start; the message is one sentence."""


class SupervisedProcess:
    """One process, in a group of its own, and when to start it again."""

    def __init__(self, name: str, command: Sequence[str], say: Say, leash: OrphanGuard) -> None:
        self.name = name
        self.command = command
        self._say = say
        self._leash = leash
        self._process: subprocess.Popen[str] | None = None
        self._started = self._due = 0.0
        self._false_starts = 0

    def tick(self) -> None:
        """Notice an end, or start (again) when it is time."""
        if self._process is None:
            if time.monotonic() >= self._due:
                self._start()
        elif self._process.poll() is not None:
            self._ended(self._process)

    def ask_to_stop(self) -> None:
        """Ask the child to finish."""
        if self._process:
            send(self._process.pid, signal.SIGTERM)

    def wait(self, deadline: float) -> None:
        """Wait for the child's end, and kill it when the time is up."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._say(self.name, "did not stop in time and was killed")
        self._clear_up(self._process)

    def _start(self) -> None:
        self._started = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Ctrl-C then reaches us alone, and what the child starts can be ended with it.
            start_new_session=True,
        )
        self._leash.hold(self._process.pid)
        self._relaying = threading.Thread(target=self._relay, args=(self._process,), daemon=True)
        self._relaying.start()

    def _relay(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                self._say(self.name, line.rstrip("\n"))

    def _ended(self, process: subprocess.Popen[str]) -> None:
        self._clear_up(process)
        settled = time.monotonic() - self._started >= SETTLED_SECONDS
        self._false_starts = 1 if settled else self._false_starts + 1
        if self._false_starts >= MOST_FALSE_STARTS:
            raise GaveUpError(
                f"The {self.name} ended {MOST_FALSE_STARTS} times soon after its start; its lines say why."
            )
        pause = min(2.0 ** (self._false_starts - 2), LONGEST_PAUSE)
        self._say(self.name, f"ended with status {process.returncode}; starting it again in {pause:g} s")
        self._due = time.monotonic() + pause

    def _clear_up(self, process: subprocess.Popen[str]) -> None:
        """Kill what the child may have left behind in its group."""
        send(process.pid, signal.SIGKILL)
        process.wait()
        self._relaying.join(timeout=1)
        self._leash.release(process.pid)
        self._process = None


class Supervisor:
    """Runs children until a signal (or `stop`) ends them all."""

    def __init__(self, commands: Mapping[str, Sequence[str]], say: Say) -> None:
        self._stopping = threading.Event()
        self._leash = OrphanGuard()
        self._children = [
            SupervisedProcess(name, command, say, self._leash) for name, command in commands.items()
        ]

    def run(self, is_ready: Callable[[], bool], announce: Callable[[], None]) -> None:
        """Keep the children running; `announce` once, when `is_ready` says so."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # `nohup` had its reasons.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda *_: self._stopping.set())
        try:
            self._watch(is_ready, announce)
        finally:
            self._stop()

    def _watch(self, is_ready: Callable[[], bool], announce: Callable[[], None]) -> None:
        announced = False
        while not self._stopping.wait(TICK_SECONDS):
            for child in self._children:
                child.tick()
            if not announced and is_ready():
                announce()
                announced = True

    def _stop(self) -> None:
        for child in self._children:
            child.ask_to_stop()
        deadline = time.monotonic() + GRACE_SECONDS
        for child in self._children:
            child.wait(deadline)
        self._leash.close()
