"""Servers on the loopback interface that stand for other companies' APIs."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class Handler(BaseHTTPRequestHandler):
    """Answers one connection, without a word on standard error."""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def sent_json(self) -> dict[str, Any]:
        """Return the body of the request."""
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body


class LoopbackServer(ABC):
    """Runs while the `with` block does."""

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), self.handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @abstractmethod
    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Return what answers each connection."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A crowd that connects at once is to be let in, not to try again after a second.
    request_queue_size = 256
