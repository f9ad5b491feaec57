"""Does one honest user notice what twenty hostile clients do? `python -m bench.soak [--minutes 10]`

Starts the real web server and worker on a scratch database. Twenty clients of every kind (hostile text, huge
bodies, slow bodies and headers, pages that are hard to draw, cut sockets, wrong keys and passwords, addresses
that never answer) attack from a process of their own, while one honest user asks, uploads and looks at
`/health`. Prints what the honest user saw, what the attackers were answered, memory and disk.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles

import psutil
from django.core.management import call_command

from bench.soak.clients import VICTIM, attack
from bench.soak.honest import Honest
from bench.soak.watching import Watcher, thirds
from bench.upload import new_key, server
from tests.testing.scratch import environment, scratch_database

ATTACKERS = 10
REFUSALS = ("503", "504")
"""Typed answers to who asks too much: `overloaded`, and `timeout` for a page that can't be drawn in time."""
SETTLE_SECS = 20.0
"""How long the honest user goes on alone afterwards."""


def main() -> None:
    """Attack, watch, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    secs = 60 * parser.parse_args().minutes
    site = free_port()
    os.environ["WEB_FETCH_ALLOW"] = f"127.0.0.1:{site}"
    with scratch_database():
        # As `manage.py serve` does: pages name their static files by their hashes.
        call_command("collectstatic", interactive=False, verbosity=0)
        honest_key, keys = new_key(), attacker_keys()
        with server() as (port, web), worker() as working:
            honest = Honest(port, honest_key)
            watcher = Watcher({"web": web, "worker": working}, Path(os.environ["DATA_DIR"]))
            honest.start()
            watcher.start()
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                replies = pool.submit(attack, port, keys, site, secs).result()
            honest.stop(SETTLE_SECS)
            watcher.stop()
    report(honest, replies, watcher)


def attacker_keys() -> list[str]:
    """Return the keys of people of whom each has a workspace of their own."""
    from accounts.access.keys import create_key
    from accounts.models import User

    # Whose password one of them guesses.
    User.objects.create_user(VICTIM, "a password that nobody guesses")
    people = [User.objects.create_user(f"attacker{n}@example.org") for n in range(ATTACKERS)]
    return [create_key(person, "soak", scopes=["read", "write"])[1] for person in people]


@contextmanager
def worker() -> Iterator[psutil.Process]:
    """Run the worker as `manage.py serve` does."""
    from locus.management.commands.serve import commands

    process = subprocess.Popen(commands("127.0.0.1", 0)["worker"], env=environment())
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """Return a port of loopback that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def report(honest: Honest, replies: dict[str, Counter[str]], watcher: Watcher) -> None:
    """Print what was seen."""
    print(f"\n/health of the honest user: {described(honest.health)}")
    print(f"Questions: {described(honest.questions)}")
    print(f"Small uploads until they were found: {described(honest.uploads)}")
    print(f"Failures of the honest user: {len(honest.failures)} {Counter(honest.failures).most_common(3)}")
    print("What the attackers were answered:")
    for name, counts in replies.items():
        print(f"  {name}: {', '.join(f'{code} {count}×' for code, count in sorted(counts.items()))}")
    everything = sum(replies.values(), Counter[str]())
    faults = {code: n for code, n in everything.items() if code.startswith("5") and code not in REFUSALS}
    print(f"Server errors (5xx but {' and '.join(REFUSALS)}): {faults or 'none'}")
    for name, sizes in watcher.memory.items():
        middle, last = thirds(sizes)
        words = f"median of the second third {_mb(middle)}, of the last {_mb(last)}"
        print(f"Memory of the {name} process: {words}, peak {_mb(max(sizes))}")
    sizes = watcher.disk
    print(f"Files below DATA_DIR: {_mb(sizes[0])} at first, peak {_mb(max(sizes))}, {_mb(sizes[-1])} at last")


def described(secs: Sequence[float]) -> str:
    """Return how many there were and how long they took."""
    if len(secs) < 2:
        return f"{len(secs)}"
    parts = quantiles(secs, n=100, method="inclusive")
    return f"{len(secs)}, p50 {parts[49]:.2f} s, p99 {parts[98]:.2f} s, longest {max(secs):.2f} s"


def _mb(size: float) -> str:
    return f"{size / 2**20:.0f} MB"


if __name__ == "__main__":
    main()
