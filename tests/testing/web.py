"""A web of one server on loopback, and a network on which public names lead to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore2

PUBLIC = "93.184.216.34"
Page = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Web:
    """The server: what it answers by path, what it was asked, and how often somebody connected."""

    port: int = 0
    pages: dict[str, Page] = field(default_factory=dict)
    asked: list[BaseHTTPRequestHandler] = field(default_factory=list)
    connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    def page(
        self, path: str, body: bytes = b"<p>Hello</p>", type: str | None = "text/html", **headers: str
    ) -> str:
        """Answer 200 with a body; return the URL."""
        self.pages[path] = lambda request: reply(request, 200, body, type, **headers)
        return self.url(path)

    def redirect(self, path: str, to: str, status: int = 302) -> str:
        """Answer with a redirect; return the URL."""
        self.pages[path] = lambda request: reply(request, status, b"moved", None, Location=to)
        return self.url(path)

    def paths(self) -> list[str]:
        return [request.path for request in self.asked]


def reply(
    request: BaseHTTPRequestHandler, status: int, body: bytes, type: str | None = "text/html", **headers: str
) -> None:
    """Send an answer; a `Content_Length` in the headers may lie, `""` leaves it out."""
    request.send_response(status)
    if type is not None:
        request.send_header("Content-Type", type)
    for name, value in ({"Content_Length": str(len(body))} | headers).items():
        if value:
            request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def serving(ssl_context: Any = None) -> Iterator[Web]:
    """Serve until the block is left."""
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append(self)
            try:
                web.pages.get(self.path, lambda request: reply(request, 404, b"nothing"))(self)
            except OSError:  # the client has had enough
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def process_request(self, request: Any, client_address: Any) -> None:
            web.connections += 1
            super().process_request(request, client_address)

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        if ssl_context is not None:
            server.socket = ssl_context.wrap_socket(server.socket, server_side=True)
        web.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield web
        finally:
            web.over.set()
            server.shutdown()
            thread.join()


class Routed(httpcore2.AsyncNetworkBackend):
    """Leads every address to a port of loopback, and remembers which were dialled."""

    def __init__(self, port: int, dead: Sequence[str] = ()) -> None:
        self.port = port
        self.dead = dead
        self.dialled: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        self.dialled.append((host, port))
        if host in self.dead:
            raise httpcore2.ConnectError
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", self.port, *args, **kwargs)


class Names:
    """A resolver: each name has a list of answers, the last of which stays."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): answer for name, answer in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host not in self.answers:
            raise OSError("no such name")
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]
