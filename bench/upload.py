"""Does a large upload disturb the web server? `python -m bench.upload [--megabytes N]`

Starts the real web server on a scratch database and asks one question after the other over a websocket, first
with nothing else to do, then while a file is uploaded. Prints the server's resident memory before and at its
peak, and the longest wait between two events of an answer.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter, sleep

import httpx
import psutil
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.testing.scratch import SAMPLE, both_steps, environment, scratch_database, stored

QUESTION = "What does the report say about the tower and its keeper?"
AT_REST_SECS = 10.0
START_SECS = 120.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=495)
    megabytes = parser.parse_args().megabytes
    with scratch_database(), server() as (port, process), tempfile.NamedTemporaryFile(suffix=".txt") as file:
        key = new_key()
        for _ in range(megabytes):
            file.write(os.urandom(2**19).hex().encode())
        file.flush()
        waits = Asking(port, key)
        sleep(AT_REST_SECS)
        at_rest, resident = waits.stop(), process.memory_info().rss
        waits, memory = Asking(port, key), PeakMemory(process)
        begun = perf_counter()
        upload(port, key, Path(file.name))
        secs, during, peak = perf_counter() - begun, waits.stop(), memory.stop()
    print(f"{megabytes} MB uploaded in {secs:.1f} s")
    print(f"Web server: {resident / 2**20:.0f} MB before, {peak / 2**20:.0f} MB at its peak")
    print(f"Longest wait for an event: {max(at_rest):.0f} ms at rest, {max(during):.0f} ms meanwhile")
    print(f"Median: {median(at_rest):.1f} ms at rest, {median(during):.1f} ms meanwhile")


def upload(port: int, key: str, file: Path) -> None:
    """Upload a file as a program would."""
    with file.open("rb") as content:
        reply = httpx.post(
            f"http://127.0.0.1:{port}/api/v1/documents",
            headers={"Authorization": f"Bearer {key}"},
            files={"files": (file.name, content)},
            timeout=600,
        )
    reply.raise_for_status()


class Asking(Thread):
    """Asks over a websocket, again and again, and notes how long each event lets wait, in milliseconds."""

    def __init__(self, port: int, key: str) -> None:
        super().__init__(daemon=True)
        self._address = f"ws://127.0.0.1:{port}/ws/tools/rag_search"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._warm, self._enough = Event(), Event()
        self._waits: list[float] = []
        self.start()
        self._warm.wait()

    def run(self) -> None:
        """Ask until told to stop; the first answer loads what is loaded once, and does not count."""
        with connect(self._address, additional_headers=self._headers) as connection:
            list(self._answer(connection))
            self._warm.set()
            while not self._waits or not self._enough.is_set():
                self._waits += self._answer(connection)

    def stop(self) -> list[float]:
        """Return all waits."""
        self._enough.set()
        self.join()
        return self._waits

    def _answer(self, connection: Connection) -> Iterator[float]:
        connection.send(json.dumps({"query": QUESTION}))
        name = ""
        while name not in ("tool_end", "error"):
            begun = perf_counter()
            name = json.loads(connection.recv(timeout=60))["event"]
            yield (perf_counter() - begun) * 1000


class PeakMemory(Thread):
    """Watches the resident bytes of a process."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._process, self._enough, self._peak = process, Event(), 0
        self.start()

    def run(self) -> None:
        """Look every few milliseconds."""
        while not self._enough.wait(0.02):
            self._peak = max(self._peak, self._process.memory_info().rss)

    def stop(self) -> int:
        """Return the peak."""
        self._enough.set()
        self.join()
        return self._peak


@contextmanager
def server(application: str = "locus.asgi:application") -> Iterator[tuple[int, psutil.Process]]:
    """Run the web server on a free port of loopback, as `manage.py serve` does."""
    from locus.management.commands.serve import commands

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    usual = commands("127.0.0.1", port)["web"]
    command = [application if word == "locus.asgi:application" else word for word in usual]
    process = subprocess.Popen(command, env=environment())
    try:
        wait_until_ready(port)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(port: int) -> None:
    """Wait until the server answers."""
    until = perf_counter() + START_SECS
    while perf_counter() < until:
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/health").is_success:
                return
        sleep(0.2)
    sys.exit("The web server did not start.")


def new_user_key() -> str:
    """Return an API key of a new user."""
    from accounts.access.keys import create_key
    from accounts.models import User

    return create_key(User.objects.create_user("bench@example.org"), "bench")[1]


def new_key() -> str:
    """Ingest the sample report and return an API key of its owner."""
    from accounts.access.keys import create_key

    document = stored(SAMPLE)
    for step in both_steps():
        step(document.pk)
    user = document.workspace.personal_of
    assert user is not None
    return create_key(user, "bench")[1]


if __name__ == "__main__":
    main()
