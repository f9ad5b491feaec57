"""Two hosts with two web servers each and three workers, two databases, an object store and a cache."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from time import sleep
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import psutil

from bench.outages.relay import Relay
from locus.serve.postgres import ROLE
from tests.testing.live import free_port
from tests.testing.object_store import ACCESS_KEY, BUCKET, SECRET_KEY, ObjectStore, object_store
from tests.testing.paths import ROOT
from tests.testing.replication import DATABASE, DatabaseServer, two_servers
from tests.testing.valkey import Valkey, valkey_server

START_SECS = 240
PREPARED = """
import json, django
django.setup()
from core.row_access import act_as_system_in_this_process
act_as_system_in_this_process()
"""
PEOPLE = """
from accounts.access.keys import create_key
from accounts.models import User
people = [User.objects.create_user(f"person{number}@example.org") for number in range(%d)]
print(json.dumps([create_key(person, "crowd", scopes=["read", "write"])[1] for person in people]))
"""
# Which process has written a line.
OF_PROCESS = re.compile(r"^\w+(?: \d+)? +│ ", re.MULTILINE)
# What went wrong with a request, up to the next entry of the log, which begins with its time.
FAULT = re.compile(
    r"(?:Internal Server Error: |Exception in ASGI application|[A-Z]{3,6} /\S* failed)[^\n]*\n"
    r"(.*?)(?=\n\d{4}-\d\d-\d\d |\Z)",
    re.DOTALL,
)
SERVICES = ("primary", "replica", "cache", "store")


class DidNotStart(Exception):
    """A host does not answer; its log says why."""


@dataclass
class Host:
    """One host: its processes under `manage.py serve`, and its cables to the services."""

    name: str
    folder: Path
    webs: int
    workers: int
    relays: dict[str, Relay]
    environment: dict[str, str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its web servers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start all of its processes, and wait until it answers."""
        counts = [f"--web={self.webs}", f"--workers={self.workers}"]
        command = [sys.executable, "manage.py", "serve", "--host=127.0.0.1", f"--port={self.port}", *counts]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )
        for _ in range(START_SECS):
            if self.process.poll() is None and self._answers():
                return
            sleep(1)
        raise DidNotStart(f"{self.name}: see {self.folder / 'log'}")

    def children(self, role: str) -> list[psutil.Process]:
        """Return its web servers (`web`) or its workers (`worker`)."""
        word = "locus.serve.web" if role == "web" else "worker"
        alive = psutil.Process(self.process.pid).children() if self.process else []
        return [each for each in alive if word in " ".join(each.cmdline())]

    def kill(self) -> None:
        """End all of its processes at once, as a power failure would."""
        if self.process:
            tree = [
                psutil.Process(self.process.pid),
                *psutil.Process(self.process.pid).children(recursive=True),
            ]
            for each in tree:
                each.kill()
            psutil.wait_procs(tree)
            self.process.wait()

    def stop(self) -> None:
        """Ask it to end in good order."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(START_SECS)

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `manage.py` to its end."""
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )

    def printed_by(self, script: str) -> Any:
        """Run a script in the installation, as the system, and return what it prints, as JSON."""
        command = [sys.executable, "-c", PREPARED + dedent(script)]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    def faults(self) -> Counter[str]:
        """Count the requests that its web servers answered with 500, by the last line of the traceback."""
        log = OF_PROCESS.sub("", (self.folder / "log").read_text(errors="replace"))
        return Counter(each[1].rstrip().rpartition("\n")[2][:200] for each in FAULT.finditer(log))

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


@dataclass
class Installation:
    """Hosts, and the services that they share."""

    primary: DatabaseServer
    replica: DatabaseServer
    store: ObjectStore
    cache: Valkey
    hosts: list[Host]

    def new_keys(self, people: int) -> list[str]:
        """Make people, each with a workspace of their own, and return a key of each."""
        keys: list[str] = self.hosts[0].printed_by(PEOPLE % people)
        return keys


@contextmanager
def installation() -> Iterator[Installation]:
    """Run all of it until the block is left."""
    folder = Path(tempfile.mkdtemp(prefix="locus-outages-"))
    folder.chmod(0o711)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        primary, replica = stack.enter_context(two_servers())
        store, cache = stack.enter_context(object_store()), stack.enter_context(valkey_server())
        shared = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "KEY_PEPPER", "ENCRYPTION_KEY")}
        made = Installation(primary, replica, store, cache, [])
        for name, workers in (("one", 2), ("two", 1)):
            host = _host(folder / name, made, workers, shared)
            made.hosts.append(host)
            host.start()
            stack.callback(host.stop)
        yield made


def _host(folder: Path, services: Installation, workers: int, shared: dict[str, str]) -> Host:
    folder.mkdir()
    relays = {name: Relay() for name in SERVICES}
    addresses = {}
    for name, server in (("primary", services.primary), ("replica", services.replica)):
        own = folder / name
        own.mkdir()
        relays[name].to_socket(server.folder / ".s.PGSQL.5432", own / ".s.PGSQL.5432")
        addresses[name] = f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(own), safe='')}"
    cache, store = (_through(relays[name], url) for name, url in _urls(services))
    environment = (
        os.environ
        | shared
        | {
            "DATA_DIR": str(folder / "data"),
            "DATABASE_URL": addresses["primary"],
            "DATABASE_REPLICA_URLS": addresses["replica"],
            "REDIS_URL": cache,
            "STORAGE": "s3",
            "S3_BUCKET": BUCKET,
            "S3_ENDPOINT_URL": store,
            "S3_ACCESS_KEY_ID": ACCESS_KEY,
            "S3_SECRET_ACCESS_KEY": SECRET_KEY,
            "DJANGO_SETTINGS_MODULE": "locus.settings",
            # All processes are root here: one that became another could not read the others' files.
            "ALLOW_ROOT": "true",
        }
    )
    return Host(folder.name, folder, 2, workers, relays, environment)


def _urls(services: Installation) -> list[tuple[str, str]]:
    return [("cache", services.cache.url), ("store", services.store.url)]


def _through(relay: Relay, url: str) -> str:
    parts = urlsplit(url)
    assert parts.port
    return parts._replace(netloc=f"127.0.0.1:{relay.to_port(parts.port)}").geturl()
