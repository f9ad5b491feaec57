"""The containers: a compose file that fits the code, and its topology proved with plain processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from locus.management.commands import serve
from locus.serve.postgres import EXTENSIONS
from tests.testing.paths import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
OURS = ("setup", "web", "worker")


def test_the_services_are_those_of_the_single_command() -> None:
    assert list(SERVICES) == ["db", *OURS]
    assert SERVICES["db"]["image"].startswith("pgvector/pgvector:pg")
    assert all(SERVICES[name]["image"] == "locus" and SERVICES[name]["build"] == "." for name in OURS)


def test_each_service_waits_for_what_it_needs() -> None:
    waits = {name: SERVICES[name]["depends_on"] for name in OURS}
    assert waits["setup"] == {"db": {"condition": "service_healthy"}}
    for name in ("web", "worker"):
        assert waits[name]["db"] == {"condition": "service_healthy"}
        assert waits[name]["setup"] == {"condition": "service_completed_successfully"}
    assert "pg_isready" in " ".join(SERVICES["db"]["healthcheck"]["test"])
    assert "/health" in re.findall(r"HEALTHCHECK.*\n.*", DOCKERFILE)[0]


def test_no_secret_is_written_down_and_only_loopback_is_published() -> None:
    assert SERVICES["db"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    assert "${POSTGRES_PASSWORD:?" in SERVICES["web"]["environment"]["DATABASE_URL"]
    assert SERVICES["web"]["ports"] == ["${HOST:-127.0.0.1}:${PORT:-8000}:8000"]
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]


def test_the_role_of_locus_is_no_superuser() -> None:
    """The image's first user is a superuser; ours is another."""
    assert "POSTGRES_USER" not in SERVICES["db"]["environment"]
    [config] = SERVICES["db"]["configs"]
    made = COMPOSE["configs"][config["source"]]["content"]
    role = re.match(r"postgresql://(\w+):", SERVICES["web"]["environment"]["DATABASE_URL"])
    assert role
    assert f"CREATE ROLE {role[1]} LOGIN PASSWORD '${{POSTGRES_PASSWORD}}';" in made
    assert f"CREATE DATABASE locus OWNER {role[1]};" in made
    assert all(f"CREATE EXTENSION {name};" in made for name in EXTENSIONS)


def test_volumes_are_declared_and_shared_by_web_and_worker() -> None:
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert used == set(COMPOSE["volumes"])
    assert all(SERVICES[name]["volumes"] == ["data:/data"] for name in OURS)


def test_our_containers_have_no_privileges() -> None:
    assert DOCKERFILE.rindex("\nUSER locus\n") < DOCKERFILE.rindex("\nCMD ")
    for name in OURS:
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in SERVICES[name]["security_opt"]


def test_the_web_server_runs_as_it_does_under_serve() -> None:
    assert SERVICES["web"]["command"][4:] == ["--host=0.0.0.0", "--port=8000", *serve.UVICORN]


def test_the_commands_exist() -> None:
    managed = [
        service["command"][2] for service in SERVICES.values() if "manage.py" in service.get("command", [])
    ]
    assert managed == ["setup", "worker"]
    assert set(managed) <= set(get_commands())


def test_the_image_copies_what_is_there() -> None:
    sources = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for source in " ".join(sources).split():
        assert (ROOT / source).exists()
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".env", ".git", ".venv", "var"} <= set(ignored)


def test_docker_accepts_the_compose_file() -> None:
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("the docker client with its compose plugin is not here")
    environment = os.environ | {"POSTGRES_PASSWORD": "secret"}
    command = [docker, "compose", "config", "--quiet"]
    checked = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


# --- The same topology, without containers -----------------------------------------------------------------


def on_this_machine(name: str, port: int) -> list[str]:
    """Return a service's command, with our Python and a free port."""
    words = SERVICES[name]["command"]
    places = {"python": sys.executable, "--host=0.0.0.0": "--host=127.0.0.1", "--port=8000": f"--port={port}"}
    return [places.get(word, word) for word in words]


@contextmanager
def running(name: str, port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(on_this_machine(name, port), cwd=ROOT, env=environment)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@pytest.fixture
def external_server() -> Iterator[str]:
    """The URL of a database that some other process runs, as a container would."""
    folder = tempfile.mkdtemp(prefix="locus-")
    hold = "import sys; from pathlib import Path; from locus.serve.postgres import start_embedded as start; "
    hold += "print(start(Path(sys.argv[1])), flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, folder]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.communicate()
    shutil.rmtree(folder, ignore_errors=True)


def read_health(port: int) -> dict[str, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return dict(json.loads(reply.read()))
    except OSError:
        return {}


@pytest.mark.slow("compose")
def test_setup_web_and_worker_meet_in_an_external_database(external_server: str, tmp_path: Path) -> None:
    environment = os.environ | {
        "DATABASE_URL": external_server,
        "DATA_DIR": str(tmp_path / "data"),
        "ADMIN_PASSWORD": "a password of the operator",
    }
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    setup = subprocess.run(
        on_this_machine("setup", port), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert setup.returncode == 0, setup.stderr
    assert "a password of the operator" not in setup.stdout + setup.stderr
    assert not (tmp_path / "data" / "postgres").exists()

    with ExitStack() as stack:
        for name in ("web", "worker"):
            stack.enter_context(running(name, port, environment))
        deadline = time.monotonic() + 120
        while (health := read_health(port)).get("worker") != "ok" and time.monotonic() < deadline:
            time.sleep(0.2)
    assert health["status"] == health["database"] == health["worker"] == "ok"
