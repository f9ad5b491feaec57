"""Milvus in this process, on a loopback port: `milvus-lite`, the same API in a package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from core.row_access import as_system
from kb.index.engines.base import Candidates, IndexQuery, IndexScope, Mark
from kb.index.engines.milvus import MilvusEngine
from kb.index.milvus import changes
from kb.index.milvus.collection import all_collections
from kb.index.milvus.connection import disconnect


class MilvusServer:
    """A server that can be stopped and started again with what it holds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None
        self._database: Any = None
        self.port = 0
        self.start()

    @property
    def uri(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, on the port that it had before."""
        from milvus_lite.adapter.grpc.server import start_server_in_thread

        self._server, self._database, self.port = start_server_in_thread(
            str(self._folder), host="127.0.0.1", port=self.port
        )

    def stop(self) -> None:
        """Stop it; what asks it gets no answer."""
        self._server.stop(grace=0).wait()
        self._database.close()


@contextmanager
def milvus_server(folder: Path) -> Iterator[MilvusServer]:
    """Run a server that keeps its data in a folder."""
    server = MilvusServer(folder)
    try:
        yield server
    finally:
        disconnect()
        server.stop()


def keep_milvus_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make noted changes at each commit of this process and before each of its searches: no worker runs."""
    search = MilvusEngine.candidates

    def written_and_searched(
        engine: MilvusEngine, scope: IndexScope, query: IndexQuery, mark: Mark
    ) -> Candidates:
        _write_all()
        return search(engine, scope, query, mark)

    monkeypatch.setattr(MilvusEngine, "candidates", written_and_searched)
    monkeypatch.setattr(changes, "_defer", lambda: transaction.on_commit(_write_all))


@as_system("does what the worker would do")
def _write_all() -> None:
    changes.apply_all()


def drop_collections() -> None:
    """Drop the collections of this process: of each test that is rolled back one of its own space is left."""
    for each in all_collections():
        each.drop()
