"""Runs a few child processes: restarts crashed ones, stops all of them together."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from locus.serve.orphan_guard import OrphanGuard, send_signal

# A child that ran this long had started well. Crashing sooner, again and again, is a permanent fault.
SETTLED_SECONDS = 20.0
MOST_FALSE_STARTS = 5
LONGEST_PAUSE = 30.0
GRACE_SECONDS = 15.0
TICK_SECONDS = 0.1

Say = Callable[[str, str], None]


class GaveUpError(Exception):
    """A child kept crashing right after its start; the message is one sentence."""


class SupervisedProcess:
    """One process in a group of its own, and when to start it again."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        say: Say,
        guard: OrphanGuard,
        inherited: Sequence[int] = (),
        forget: Callable[[int], None] = lambda pid: None,
        before_start: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.name = name
        self.command = command
        self._inherited = inherited
        self._forget = forget
        self._before_start = before_start
        self._say = say
        self._guard = guard
        self._process: subprocess.Popen[str] | None = None
        self._started = self._due = 0.0
        self._false_starts = 0

    def tick(self) -> None:
        """Notice the child's end, or start it when it is time."""
        if self._process is None:
            if time.monotonic() >= self._due:
                self._start()
        elif self._process.poll() is not None:
            self._note_end(self._process)

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the child."""
        if self._process:
            send_signal(self._process.pid, signal.SIGTERM)

    def wait(self, deadline: float) -> None:
        """Wait for the child's end, and kill it at the deadline."""
        if self._process is None:
            return
        try:
            self._process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._say(self.name, "did not stop in time and was killed")
        self._clear_up(self._process)

    def _start(self) -> None:
        self._before_start(self.name)
        self._started = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Then Ctrl-C reaches only this process, and everything that the child starts can be ended with
            # it.
            start_new_session=True,
            pass_fds=self._inherited,
        )
        self._guard.watch(self._process.pid)
        self._relaying = threading.Thread(target=self._relay, args=(self._process,), daemon=True)
        self._relaying.start()

    def _relay(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                self._say(self.name, line.rstrip("\n"))

    def _note_end(self, process: subprocess.Popen[str]) -> None:
        self._clear_up(process)
        settled = time.monotonic() - self._started >= SETTLED_SECONDS
        self._false_starts = 1 if settled else self._false_starts + 1
        if self._false_starts >= MOST_FALSE_STARTS:
            raise GaveUpError(
                f"The {self.name} ended {MOST_FALSE_STARTS} times soon after its start; see its output above."
            )
        pause = min(2.0 ** (self._false_starts - 2), LONGEST_PAUSE)
        self._say(self.name, f"ended with status {process.returncode}; starting it again in {pause:g} s")
        self._due = time.monotonic() + pause

    def _clear_up(self, process: subprocess.Popen[str]) -> None:
        """Kill what the child may have left running in its group."""
        send_signal(process.pid, signal.SIGKILL)
        process.wait()
        self._relaying.join(timeout=1)
        self._guard.unwatch(process.pid)
        self._forget(process.pid)
        self._process = None


class Supervisor:
    """Runs children until a signal ends them all.

    `inherited` has the file descriptors that children get, by their names. `patience` is how many seconds
    they may take for what they do when they are asked to stop. `forget` is called with the process id of each
    child that has ended. `before_start` is called with the name of each child that is about to start; what it
    raises stops all of them.
    """

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        say: Say,
        inherited: Mapping[str, Sequence[int]] | None = None,
        patience: float = 0.0,
        forget: Callable[[int], None] = lambda pid: None,
        before_start: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._is_stopping = False
        self._patience = patience
        self._guard = OrphanGuard()
        self._children = [
            SupervisedProcess(
                name, command, say, self._guard, (inherited or {}).get(name, ()), forget, before_start
            )
            for name, command in commands.items()
        ]

    def run(self, is_ready: Callable[[], bool], announce: Callable[[], None]) -> None:
        """Keep the children running; call `announce` once, when `is_ready` returns True."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # `nohup` ignores this signal on purpose.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._request_stop)
        try:
            self._watch(is_ready, announce)
        finally:
            self._stop()

    def _request_stop(self, *_: object) -> None:
        # A flag and no `Event`: this thread may hold the event's lock when the signal comes, and would wait
        # for itself.
        self._is_stopping = True

    def _watch(self, is_ready: Callable[[], bool], announce: Callable[[], None]) -> None:
        announced = False
        while not self._is_stopping:
            for child in self._children:
                child.tick()
            if not announced and is_ready():
                announce()
                announced = True
            time.sleep(TICK_SECONDS)

    def _stop(self) -> None:
        for child in self._children:
            child.ask_to_stop()
        deadline = time.monotonic() + GRACE_SECONDS + self._patience
        for child in self._children:
            child.wait(deadline)
        self._guard.close()
