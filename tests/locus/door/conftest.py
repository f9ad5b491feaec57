"""A web server with low limits, so that a test need not wait long nor open many."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from tests.testing.live import answers, free_port, start_web, stop, wait_until

LIMITS = {
    "HEADER_TIMEOUT_SECS": "2",
    "BODY_TIMEOUT_SECS": "2",
    "MIN_BODY_RATE": "4096",
    "MAX_CONNECTIONS_PER_ADDRESS": "400",
    "MAX_UPLOADS_PER_USER": "2",
    "MAX_STREAMS_PER_USER": "2",
    "MAX_SOCKETS_PER_USER": "3",
    "MAX_UPLOAD_BYTES": str(64 * 2**20),
    "CORS_ORIGINS": "https://app.example.org",
}


@dataclass
class Limited:
    port: int
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        return (Path(settings.DATA_DIR) / "web.log").read_text()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="package")
def limited(django_db_setup: None, static_files: None) -> Iterator[Limited]:
    port = free_port()
    server = Limited(port, start_web(port, **LIMITS))
    try:
        wait_until(lambda: answers(f"{server.url}/health"), "the web server starts")
        yield server
    finally:
        stop(server.process)
