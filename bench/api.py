"""What does a request to the API cost? `python -m bench.api [--requests 2000]`

Starts the real web server on a scratch database. One client sends the same small request again and again over
one connection: as fast as it can, and then at the pace of a person, whose every request finds no lease of its
rate. Prints milliseconds as the client sees them, and the processor time of the server.
"""

from __future__ import annotations

import argparse
import os
import time
from statistics import median, quantiles

import httpx

from bench.streams import wait_until_quiet
from bench.upload import new_user_key, server
from tests.testing.scratch import scratch_database

PACE_SECS = 0.05


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    arguments = parser.parse_args()
    os.environ.setdefault("REQUESTS_PER_MINUTE", "1000000")
    with scratch_database(), server() as (port, process):
        headers = {"X-API-KEY": new_user_key()}
        wait_until_quiet(process)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
            _measure(client, 200, 0)
            for name, requests, pause in [
                ("at once", arguments.requests, 0.0),
                ("one after a pause", arguments.requests // 10, PACE_SECS),
            ]:
                before = process.cpu_times()
                took = _measure(client, requests, pause)
                after = process.cpu_times()
                spent = (after.user + after.system - before.user - before.system) / requests
                print(
                    f"{name}: p50 {median(took):.2f} ms, p95 {quantiles(took, n=20)[18]:.2f} ms, "
                    f"{1000 * spent:.2f} ms of processor time each"
                )


def _measure(client: httpx.Client, requests: int, pause: float) -> list[float]:
    took = []
    for _ in range(requests):
        begun = time.perf_counter()
        client.get("/api/v1/me").raise_for_status()
        took.append(1000 * (time.perf_counter() - begun))
        time.sleep(pause)
    return took


if __name__ == "__main__":
    main()
