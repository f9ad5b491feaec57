"""What the server takes of the machine: memory of its processes, disk of its data folder."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event, Thread

import psutil

EVERY_SECS = 2.0


@dataclass
class Watcher(Thread):
    """Looks at processes, with their children, and at a folder every few seconds; sizes in bytes."""

    processes: dict[str, psutil.Process]
    folder: Path
    memory: dict[str, list[int]] = field(default_factory=dict)
    disk: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._enough = Event()

    __hash__ = Thread.__hash__

    def run(self) -> None:
        """Look until told to stop."""
        while True:
            for name, process in self.processes.items():
                with suppress(psutil.NoSuchProcess):
                    self.memory.setdefault(name, []).append(process.memory_info().rss)
            self.disk.append(size_of(self.folder))
            if self._enough.wait(EVERY_SECS):
                return

    def stop(self) -> None:
        """Look a last time, and stop."""
        self._enough.set()
        self.join()


def thirds(values: list[int]) -> tuple[float, float]:
    """Return the medians of the second and of the last third: what is flat has two alike."""
    third = len(values) // 3
    return median(values[third : 2 * third] or values), median(values[2 * third :] or values)


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder but the database's; what is removed meanwhile has none."""
    total = 0
    for top, folders, names in os.walk(folder):
        if "postgres" in folders:
            folders.remove("postgres")
        for name in names:
            with suppress(OSError):
                total += (Path(top) / name).stat().st_size
    return total
