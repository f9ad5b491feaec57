"""Does a stream lose or repeat text? `python -m bench.streams [--streams 500] [--web 1]`

Starts so many real web servers on a scratch database, with a tool that says a known text at a known pace.
Many clients ask, half over websockets and half over Server-Sent Events; each is cut off again and again at
random events, and resumes at any of the servers. Prints the characters that were missing or came twice, the
time to the first event, what a server adds before the first text apart from retrieval and model, and the
processor time and memory of each server.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import quantiles
from time import perf_counter, sleep

import psutil

from bench.upload import new_user_key, server
from tests.testing.scratch import scratch_database
from tests.testing.streams import CUTS, START_SECS, storm

QUIET_SECS, QUIET_SHARE = 2.0, 0.1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--within", type=float, default=15.0, help="seconds in which all of them ask")
    parser.add_argument("--web", type=int, default=1, help="web server processes")
    arguments = parser.parse_args()
    # All of them are one user's, and each is cut off and comes again before the server has noticed.
    for name in ("REQUESTS_PER_MINUTE", "RUNS_PER_MINUTE"):
        os.environ.setdefault(name, str(60 * arguments.streams))
    for name in ("MAX_STREAMS_PER_USER", "MAX_SOCKETS_PER_USER", "MAX_RUNS_PER_USER"):
        os.environ.setdefault(name, str(4 * arguments.streams))
    os.environ.setdefault("MAX_CONNECTIONS_PER_ADDRESS", str(4 * arguments.streams))
    with scratch_database(), ExitStack() as stack:
        servers = [
            stack.enter_context(server("tests.testing.scripted:application")) for _ in range(arguments.web)
        ]
        processes = [process for _, process in servers]
        key = new_user_key()
        # A collection that looks at all of Django would be measured as the server's slowness.
        gc.freeze()
        for process in processes:
            wait_until_quiet(process)
        begun, taken, spent = perf_counter(), _taken_secs(), [_spent_secs(each) for each in processes]
        addresses = [f"http://127.0.0.1:{port}" for port, _ in servers]
        seen = asyncio.run(storm(addresses, key, arguments.streams, arguments.within))
        spent = [_spent_secs(each) - before for each, before in zip(processes, spent, strict=True)]
        taken, lasted = _taken_secs() - taken, perf_counter() - begun
        memory = [each.memory_info() for each in processes]
        own = [(each.rss - each.shared) / 2**20 for each in memory]
    print(f"{arguments.streams} streams, each cut off {CUTS} times; ended with {seen.ends}")
    print(f"Missing characters: {seen.missing}, repeated characters: {seen.repeated}")
    print(f"First event after {_percentiles(seen.first_event)} ms")
    print(f"Added before the first text: {_percentiles(seen.added)} ms")
    each_spent = ", ".join(f"{secs:.1f}" for secs in spent)
    print(f"The web servers took {each_spent} s of processor time in {lasted:.1f} s")
    print(f"Each has {', '.join(f'{size:.0f}' for size in own)} MB of memory that it shares with nobody")
    print(f"Other machines on the same host took {taken:.2f} s of it from this one")


def wait_until_quiet(process: psutil.Process) -> None:
    """Wait until a server and its children have done what they do at the start: they load their models."""
    until, spent = perf_counter() + START_SECS, 0.0
    while perf_counter() < until:
        before, spent = spent, sum(_spent_secs(each) for each in [process, *process.children(recursive=True)])
        if spent - before < QUIET_SECS * QUIET_SHARE:
            return
        sleep(QUIET_SECS)


def _spent_secs(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _taken_secs() -> float:
    """Return the seconds of processor time that this virtual machine did not get, if it knows."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def _percentiles(values: Sequence[float]) -> str:
    parts = quantiles(values, n=20)
    return f"p50 {parts[9]:.0f}, p95 {parts[18]:.0f}"


if __name__ == "__main__":
    main()
