"""Clients that leave before they are answered: the server forgets them whole."""

from __future__ import annotations

import time

import httpx
import psutil
import pytest

from tests.conftest import Cast
from tests.locus.door import raw
from tests.locus.door.conftest import Limited
from tests.testing.live import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
LEAVING = 100
SPARE = 10
"""Threads that the server may have more of afterwards: its pools grow with use."""


def test_who_leaves_takes_no_thread_along(limited: Limited, cast: Cast) -> None:
    """Each request has a thread; one that waited for ever would stay, with its connection to PostgreSQL."""
    server = psutil.Process(limited.process.pid)
    asked = raw.head("GET", "/api/v1/documents", X_API_KEY=cast.keys["alice"])
    with httpx.Client(base_url=limited.url, headers=cast.headers("alice")) as http:
        assert http.get("/api/v1/documents").status_code == 200
        before = server.num_threads()
        for number in range(LEAVING):
            with raw.connect(limited.port) as client:
                client.sendall(asked)
                # At another moment of its request each time.
                time.sleep(number % 10 / 1000)
        # Those before it have come in by then.
        assert http.get("/api/v1/documents").status_code == 200
        wait_until(lambda: server.num_threads() <= before + SPARE, "no thread waits for who has left")
