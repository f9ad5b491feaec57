"""What a worker, the processes that read files for it, and the database take while something is measured."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from time import perf_counter
from types import TracebackType
from typing import Self

import psutil
from django.db import connection

# To look takes processor time itself. Of a process that ends, what it took since the last look is lost.
LOOK_EVERY_SECS = 0.25


class ProcessWatch:
    """A context manager; afterwards its fields say what the processes took meanwhile."""

    def __init__(self, worker: psutil.Process) -> None:
        self.peaks = {"worker": 0, "extraction": 0, "database": 0, "together": 0}
        """The largest memory in bytes; what processes share counts once."""
        self.wall_secs = 0.0
        self._worker, self._database = worker, _database_server()
        self._secs: dict[psutil.Process, float] = {}
        self._begun: dict[psutil.Process, float] = {}
        self._is_over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._begun = {process: _secs(process) for process in self._processes()}
        self.wall_secs = -perf_counter()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall_secs += perf_counter()
        self._is_over.set()
        self._thread.join()

    @property
    def processor_secs(self) -> float:
        """The processor time of all processes."""
        return sum(secs - self._begun.get(process, 0.0) for process, secs in self._secs.items())

    def _processes(self) -> dict[psutil.Process, str]:
        """Return the processes that live now, and what each belongs to."""
        found = {self._worker: "worker"}
        with suppress(psutil.Error):
            found |= dict.fromkeys(self._worker.children(recursive=True), "extraction")
        if self._database:
            with suppress(psutil.Error):
                found |= dict.fromkeys([self._database, *self._database.children(recursive=True)], "database")
        return found

    def _watch(self) -> None:
        while True:
            self._look()
            if self._is_over.wait(LOOK_EVERY_SECS):
                self._look()
                return

    def _look(self) -> None:
        sizes = dict.fromkeys(self.peaks, 0)
        for process, owner in self._processes().items():
            with suppress(psutil.Error):
                self._secs[process] = _secs(process)
                size = process.memory_full_info().pss
                sizes[owner] += size
                sizes["together"] += size
        self.peaks = {name: max(self.peaks[name], size) for name, size in sizes.items()}


def _secs(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def _database_server() -> psutil.Process | None:
    """Return the server's first process if it runs on this machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    try:
        parent = psutil.Process(pid).parent()
        return parent if parent and "postgres" in parent.name() else None
    except psutil.Error:
        return None
