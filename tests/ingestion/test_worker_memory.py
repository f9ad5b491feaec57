"""A worker's memory has a limit: the document beyond it fails, and neither worker nor machine does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from extract.errors import OutOfMemory
from extract.sandbox import parent, processes
from extract.sandbox.child import SandboxLimits
from ingestion import worker_memory
from ingestion.worker_memory import (
    MemoryUse,
    TooLittleMemory,
    check_worker_memory,
    enforce_memory_limit,
    is_memory_short,
    memory_use,
)
from tests.testing.paths import ROOT

MEGABYTE = 2**20
LIMITS = SandboxLimits(120, 4 * 2**30, 10)

pytestmark = pytest.mark.skipif(not processes.CAN_FORK, reason="memory is measured on Linux only")


@contextmanager
def limited(most: int) -> Iterator[list[int]]:
    """Enforce a limit as the worker does, but without rest; yield the ids of what was killed."""
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            use = memory_use()
            if use.readers and (ended := enforce_memory_limit(use, most)):
                killed.append(ended)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A text that takes several times its size to read."""
    path = tmp_path / "big.txt"
    path.write_bytes(b"The keeper of the lighthouse writes down the wind. " * 1_000_000)
    return path


def test_a_file_beyond_the_limit_fails_with_its_code(big: Path) -> None:
    """Reading may use 2 GiB of address space, and several files at once took all that the machine has."""
    with limited(memory_use().total + 200 * MEGABYTE) as killed, pytest.raises(OutOfMemory):
        list(parent.extract(big, LIMITS))
    assert len(set(killed)) >= 2  # it was tried again
    assert os.getpid() not in killed


def test_below_the_limit_nothing_is_ended(tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_bytes(b"The keeper is awake.")
    with limited(memory_use().total + 2000 * MEGABYTE) as killed:
        assert list(parent.extract(tmp_path / "small.txt", LIMITS))
    assert killed == []


def test_the_largest_is_ended() -> None:
    sleepers = [subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2)]
    small, large = sleepers
    try:
        use = MemoryUse(100, {small.pid: 50, large.pid: 60})
        assert enforce_memory_limit(use, 210) is None
        assert enforce_memory_limit(use, 209) == large.pid
        assert large.wait() == -signal.SIGKILL
        assert small.poll() is None
    finally:
        for each in sleepers:
            each.kill()
            each.communicate()


def test_a_worker_that_has_grown_by_itself_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """It puts its jobs back, and its supervisor starts it again."""
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr("ingestion.worker_memory.os.kill", lambda pid, number: signals.append((pid, number)))
    assert enforce_memory_limit(MemoryUse(100, {}), 99) == os.getpid()
    # Files that are read meanwhile are not to blame.
    assert enforce_memory_limit(MemoryUse(100, {12345: 1}), 99) == os.getpid()
    assert signals == [(os.getpid(), signal.SIGTERM)] * 2


def test_further_jobs_wait_near_the_limit(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def short(worker: int, **readers: int) -> bool:
        use = MemoryUse(worker, dict(enumerate(readers.values())))
        monkeypatch.setattr(worker_memory, "memory_use", lambda: use)
        return is_memory_short()

    assert not short(10**12, a=10**12)
    settings.WORKER_MEMORY_BYTES = 1000
    assert short(500, a=200, b=100)
    assert not short(500, a=200)
    # Nobody would ever make room.
    assert not short(900)


def test_a_limit_without_room_for_a_file_is_refused(settings: Any) -> None:
    settings.WORKER_MEMORY_BYTES = memory_use().total
    with pytest.raises(TooLittleMemory, match="WORKER_MEMORY_BYTES"):
        check_worker_memory()
    settings.WORKER_MEMORY_BYTES = 0
    check_worker_memory()


@pytest.mark.django_db(transaction=True)
def test_the_worker_says_so_at_its_start() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env=os.environ
        | {"WORKER_MEMORY_BYTES": "1000000", "EMBEDDING_BACKEND": "hashing", "EMBEDDING_MODEL": "hashing"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert "WORKER_MEMORY_BYTES=1000000 is too little" in done.stderr
