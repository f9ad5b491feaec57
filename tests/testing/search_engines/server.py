"""A server on loopback that answers as a provider does, and fails as it is told to."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, ValidationError

from tests.testing.loopback import Handler, LoopbackServer
from tests.testing.search_engines.pages import SOME, WebPage

KEY = "key-7d2e-nobody-may-read-this"
Shape = TypeVar("Shape", bound=BaseModel)


class Failure(StrEnum):
    """What may go wrong; a provider that has no such failure has no reply for it."""

    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    BAD_KEY = "bad_key"
    FORBIDDEN = "forbidden"
    INVALID = "invalid"
    CHALLENGE = "challenge"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    ERROR_IN_200 = "error_in_200"
    NOT_JSON = "not_json"
    WRONG_SHAPE = "wrong_shape"
    TOO_LARGE = "too_large"
    SLOW = "slow"
    """It says nothing until the double is closed."""
    CUT_OFF = "cut_off"
    """The connection ends in the middle of the reply."""
    REDIRECT = "redirect"


class Reply(NamedTuple):
    """What to send; a body that is no bytes becomes JSON."""

    status: int
    body: Any
    headers: dict[str, str] = {}

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Refused(Exception):
    """The request is not one that the provider documents."""


@dataclass(frozen=True)
class Request:
    """What the double was asked; `params` is the query, the form or the JSON body."""

    path: str
    params: dict[str, Any]
    headers: dict[str, str]
    """Names in lower case."""

    def read(self, shape: type[Shape]) -> Shape:
        """Return the parameters in their documented shape, or raise `Refused`."""
        try:
            return shape.model_validate(self.params)
        except ValidationError as error:
            problem = error.errors()[0]
            raise Refused(f"{problem['loc']}: {problem['msg']}, not {problem['input']!r}") from None


@dataclass
class ProviderDouble(LoopbackServer):
    """Runs while the `with` block does. `pages` is what it finds, in this order, whatever the words."""

    pages: Sequence[WebPage] = field(default_factory=lambda: list(SOME))
    requests: list[Request] = field(default_factory=list)
    """What it was asked, in order of arrival."""
    delay_secs: float = 0.0
    key: str = KEY
    said_besides: str = ""
    """What errors say besides; some servers repeat what they were sent."""
    mishap: Callable[[], Failure | None] = lambda: None
    """What goes wrong with a request for which nothing else was told."""
    billed: list[Request] = field(default_factory=list)
    """What was answered, also if nobody waited for it, and so has to be paid for."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client has gone while the double was slow."""

    name: ClassVar[str]
    method: ClassVar[str] = "GET"
    path: ClassVar[str]

    def __enter__(self) -> Self:
        self._failures: list[Failure | Reply] = []
        self._closing = threading.Event()
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        super().__exit__(kind, error, trace)

    @property
    def url(self) -> str:
        return self.address

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that lead to this double."""
        prefix = self.name.upper()
        key = "SERPAPI_KEY" if self.name == "serpapi" else f"{prefix}_API_KEY"
        return {key: self.key, f"{prefix}_BASE_URL": self.url}

    def fail(self, failure: Failure, times: int = 1) -> None:
        """Answer the next requests so, then well again."""
        self._failures += [failure] * times

    def reply_next(self, reply: Reply) -> None:
        """Answer the next request with exactly this."""
        self._failures.append(reply)

    # --- What a provider's double says -----------------------------------------------------------------

    @abstractmethod
    def answer(self, request: Request) -> Reply:
        """Reply to a request; raise `Refused` if it is not as documented."""

    @abstractmethod
    def refusal(self, problem: str) -> Reply:
        """Reply to a request that is not as documented."""

    @abstractmethod
    def failure(self, failure: Failure) -> Reply | None:
        """Reply with a failure of the provider's own; None if it has none of this kind."""

    def has(self, failure: Failure) -> bool:
        """Tell whether the provider can fail so."""
        return failure in _ANYBODYS or self.failure(failure) is not None

    # --- How it is sent --------------------------------------------------------------------------------

    def handler(self) -> type[Handler]:
        double = self

        class Searched(Handler):
            def do_GET(self) -> None:
                double._serve(self, "GET", parse_qs(urlsplit(self.path).query, keep_blank_values=True))

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                is_json = self.headers["Content-Type"] == "application/json"
                body = json.loads(content) if is_json else parse_qs(content.decode(), keep_blank_values=True)
                double._serve(self, "POST", body)

        return Searched

    def _serve(self, handler: BaseHTTPRequestHandler, method: str, params: dict[str, Any]) -> None:
        flat = {
            name: value[0] if isinstance(value, list) and len(value) == 1 and method == "GET" else value
            for name, value in params.items()
        }
        if handler.headers["Content-Type"] == "application/x-www-form-urlencoded":
            flat = {name: value[0] for name, value in params.items()}
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(urlsplit(handler.path).path, flat, headers)
        self.requests.append(request)
        failure = self._failures.pop(0) if self._failures else self.mishap()
        time.sleep(self.delay_secs)
        try:
            if failure is Failure.SLOW:
                self.billed.append(request)
                self._wait_for(handler.connection)
            self._send(handler, self._reply(request, method, failure), cut=failure is Failure.CUT_OFF)
        except ConnectionError:
            pass

    def _wait_for(self, client: socket.socket) -> None:
        """Wait until the client goes, or the double is closed."""
        while not self._closing.wait(0.02):
            is_readable, _, _ = select.select([client], [], [], 0)
            if is_readable and not client.recv(1, socket.MSG_PEEK):
                self.left.set()
                return

    def _reply(self, request: Request, method: str, failure: Failure | Reply | None) -> Reply:
        if isinstance(failure, Reply):
            return failure
        if failure and (reply := self.failure(failure) or _ANYBODYS.get(failure)):
            return reply
        if (method, request.path) != (self.method, self.path):
            return Reply(404, b"no such path")
        try:
            answer = self.answer(request)
        except Refused as error:
            return self.refusal(str(error))
        self.billed.append(request)
        return answer

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply, *, cut: bool) -> None:
        content = reply.content
        handler.send_response(reply.status)
        for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)


_ANYBODYS = {
    Failure.NOT_JSON: Reply(200, b"<html><body>It works!</body></html>", {"Content-Type": "text/html"}),
    Failure.WRONG_SHAPE: Reply(200, []),
    Failure.TOO_LARGE: Reply(200, b'"' + b" " * (5 * 2**20) + b'"'),
    Failure.SERVER_ERROR: Reply(500, b"<h1>Internal Server Error</h1>", {"Content-Type": "text/html"}),
    Failure.REDIRECT: Reply(302, b"", {"Location": "http://127.0.0.1:9/"}),
    Failure.SLOW: Reply(200, {}),
    Failure.CUT_OFF: Reply(200, {"padding": "x" * 1000}),
}
"""What may happen with every provider."""
