"""What does the gateway add before the first text? `python -m bench.gateway [--requests 200]`

Starts the real web server on a scratch database with one document. The same question is asked in turns: of
`rag_search`, of `/v1/responses` and of `/v1/chat/completions`, each as a stream. Prints the time to the
first text of each, and what the protocols add to the tool. With `--scripted` the tool says a known text at
once, which leaves the translation alone: nothing is searched, and no statement is held.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from collections.abc import Callable, Sequence
from statistics import quantiles
from time import perf_counter
from typing import Any

import httpx

from bench.streams import wait_until_quiet
from bench.upload import QUESTION, new_key, server
from tests.testing.scratch import scratch_database

WARM_UP = 5
TOOLS = [{"type": "rag_search"}]


def _has_text(event: Any) -> bool:
    return bool(event.get("event") == "tool_partial_update")


def _has_delta(event: Any) -> bool:
    return bool(event.get("type") == "response.output_text.delta")


def _has_content(event: Any) -> bool:
    choices = event.get("choices") or [{}]
    return bool(choices[0].get("delta", {}).get("content"))


WAYS: dict[str, tuple[str, dict[str, Any], Callable[[Any], bool]]] = {
    "rag_search": ("/api/v1/tools/rag_search", {"query": QUESTION}, _has_text),
    "rag_search again": ("/api/v1/tools/rag_search", {"query": QUESTION}, _has_text),
    "responses": ("/v1/responses", {"model": "locus", "input": QUESTION, "tools": TOOLS}, _has_delta),
    "chat completions": (
        "/v1/chat/completions",
        {"model": "locus", "messages": [{"role": "user", "content": QUESTION}], "tools": TOOLS},
        _has_content,
    ),
}
"""By name: address, body, and what tells the first text. What the tool adds to itself is chance."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--scripted", action="store_true")
    arguments = parser.parse_args()
    for name in ("REQUESTS_PER_MINUTE", "RUNS_PER_MINUTE"):
        os.environ.setdefault(name, "0")
    os.environ.setdefault("SCRIPT_WAIT_SECS", "0")
    os.environ.setdefault("SCRIPT_PIECES", "3")
    os.environ.setdefault("SCRIPT_PACE_SECS", "0")
    application = "tests.testing.scripted:application" if arguments.scripted else "locus.asgi:application"
    with scratch_database(), server(application) as (port, process):
        key = new_key()
        gc.freeze()
        wait_until_quiet(process)
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=60
        ) as http:
            taken = _measured(http, arguments.requests)
    tool = taken["rag_search"]
    print(f"{arguments.requests} requests each, time to the first text in ms:")
    for name, times in taken.items():
        added = [time - other for time, other in zip(times, tool, strict=True)]
        more = "" if times is tool else f"; added to the tool: {_percentiles(added)}"
        print(f"{name:>17}: {_percentiles(times)}{more}")


def _measured(http: httpx.Client, requests: int) -> dict[str, list[float]]:
    """Return the milliseconds to the first text, by way; the ways take turns."""
    taken: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(WARM_UP + requests):
        for name in WAYS:
            taken[name].append(_first_text(http, name))
    return {name: times[WARM_UP:] for name, times in taken.items()}


def _first_text(http: httpx.Client, name: str) -> float:
    path, body, is_text = WAYS[name]
    begun, first = perf_counter(), 0.0
    with http.stream("POST", path, json=body | {"stream": True}) as reply:
        reply.raise_for_status()
        for line in reply.iter_lines():
            if not first and line.startswith("data: {") and is_text(json.loads(line[6:])):
                first = perf_counter()
    return (first - begun) * 1000


def _percentiles(values: Sequence[float]) -> str:
    parts = quantiles(values, n=20)
    return f"p50 {parts[9]:.0f}, p95 {parts[18]:.0f}"


if __name__ == "__main__":
    main()
