"""The product in a network of its own, without a way out: does any of its processes try to leave?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testing.engines import EMBEDDED
from tests.testing.models import keep_models
from tests.testing.own_network import enter_a_network_of_its_own
from tests.testing.paths import ROOT, SAMPLES

# Runs inside: serve, ingest a recording, a scan and a PDF, then print what was counted.
PLAY = """
import json, os, signal, subprocess, sys, time, urllib.request
from tests.testing.own_network import counted
serve = subprocess.Popen([sys.executable, "manage.py", "serve"], stdout=subprocess.DEVNULL)
try:
    deadline, health = time.monotonic() + 240, {}
    while health.get("worker") != "ok" and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{os.environ['PORT']}/health", timeout=5) as reply:
                health = json.loads(reply.read())
        except OSError:
            time.sleep(0.2)
    command = [sys.executable, "manage.py", "ingest", *sys.argv[1:], "--user", "admin@locus.local"]
    done = subprocess.run([*command, "--workspace", "Personal"], capture_output=True, text=True)
    print(json.dumps({"status": done.returncode, "said": done.stdout + done.stderr, "counted": counted()}))
finally:
    serve.send_signal(signal.SIGTERM)
    serve.wait(60)
"""


def run_alone(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=inherited | EMBEDDED | environment,
        preexec_fn=enter_a_network_of_its_own,
        capture_output=True,
        text=True,
        timeout=400,
    )


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root may make a network"
)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="locus-"))
    keep_models(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.1', 443), 2)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))",
    ],
)
def test_an_attempt_is_counted(attempt: str) -> None:
    program = (
        "import contextlib, socket\nfrom tests.testing.own_network import counted\n"
        f"with contextlib.suppress(OSError):\n    {attempt}\nprint(sum(counted().values()))"
    )
    done = run_alone(program)
    assert int(done.stdout) > 0, done.stderr


def test_no_process_tries_to_leave_the_machine(data_dir: Path) -> None:
    """The process that read recordings reported to the maker of a library."""
    files = [str(SAMPLES / name) for name in ("speech.opus", "scan.png", "report.pdf")]
    done = run_alone(PLAY, *files, DATA_DIR=str(data_dir), PORT="8000")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == 0, told["said"]
    assert set(told["counted"].values()) == {0}, told["counted"]
