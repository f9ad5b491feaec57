"""The product as it runs: a web server and a worker in processes of their own, on the test database.

Tests that use them are marked `django_db(transaction=True)`: what such a test writes is committed, so that
the processes see it, and removed after the test.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from locus.management.commands.serve import UVICORN
from tests.testing.paths import ROOT

# A machine that does much else besides needs more than a minute.
START_SECS = 150
STOP_SECS = 20


@dataclass(frozen=True)
class LiveServer:
    """Where a web server listens, and its process."""

    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def live_server(application: str = "locus.asgi:application", **environment: str) -> Iterator[LiveServer]:
    """Run a web server on the test database until the block is left."""
    port = free_port()
    server = LiveServer(f"http://127.0.0.1:{port}", start_web(port, application, **environment))
    try:
        wait_until(lambda: answers(f"{server.url}/health"), f"the web server starts; see {_log('web')}")
        yield server
    finally:
        stop(server.process)


@contextmanager
def live_worker(**environment: str) -> Iterator[None]:
    """Run a worker on the test database until the block is left."""
    process = start_worker(**environment)
    try:
        yield
    finally:
        stop(process)


def start_web(
    port: int, application: str = "locus.asgi:application", **environment: str
) -> subprocess.Popen[bytes]:
    """Start the web server, or another application, on a loopback port."""
    # As `manage.py serve` does, but in a hurry to stop.
    options = ["--port", str(port), *UVICORN, "--timeout-graceful-shutdown=1"]
    return _start("web", "-m", "uvicorn", application, *options, **environment)


def start_worker(**environment: str) -> subprocess.Popen[bytes]:
    """Start a worker."""
    return _start("worker", str(ROOT / "manage.py"), "worker", **environment)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process in good order, or by force if it does not follow."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until(condition: Callable[[], Any], what: str, secs: float = START_SECS) -> None:
    """Wait for `condition`, or fail saying `what` was waited for."""
    deadline = time.monotonic() + secs
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {secs:.0f} s in vain until {what}")
        time.sleep(0.1)


def _start(name: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, *arguments]
    with _log(name).open("ab") as log:
        return subprocess.Popen(
            command, cwd=ROOT, env=environment() | more, stdout=log, stderr=subprocess.STDOUT
        )


def environment() -> dict[str, str]:
    """Return the environment of a process that works on the test database."""
    # A transaction that is left open would hold up the tests that follow.
    limits = f"{os.environ.get('PGOPTIONS', '')} -c idle_in_transaction_session_timeout=60s"
    return os.environ | {
        "DATABASE_URL": database_address(),
        "DJANGO_SETTINGS_MODULE": "locus.settings",
        "PGOPTIONS": limits,
    }


def database_address() -> str:
    """Return the connection parameters of the test database."""
    database = connection.settings_dict
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return make_conninfo(**{key: str(database[name]) for key, name in names.items() if database[name]})


def _log(name: str) -> Path:
    return Path(settings.DATA_DIR) / f"{name}.log"


def free_port() -> int:
    """Return a port of loopback that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    """Tell whether a GET succeeds."""
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
