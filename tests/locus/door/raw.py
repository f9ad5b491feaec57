"""A client of raw sockets, for requests that no library would send."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import Any

PATIENCE_SECS = 30.0


@dataclass(frozen=True)
class Answer:
    """What the server said before it closed the connection or the reply was whole."""

    status: int
    headers: dict[str, str]
    body: bytes

    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)["error"]
        return found


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE_SECS, (source, 0))


def head(method: str, path: str, **headers: str) -> bytes:
    named = {"Host": "localhost"} | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()


def answer(connection: socket.socket) -> Answer | None:
    """Read one reply; None if the connection was closed without any."""
    received = b""
    while b"\r\n\r\n" not in received:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            piece = b""
        if not piece:
            return None
        received += piece
    top, _, body = received.partition(b"\r\n\r\n")
    status, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Answer(int(status.split()[1]), headers, body)


def ask(port: int, request: bytes) -> Answer | None:
    with connect(port) as connection:
        connection.sendall(request)
        return answer(connection)


def pour(connection: socket.socket, most: int) -> int:
    """Send chunks until the server stops reading or `most` bytes are sent; return how many were."""
    chunk = b"10000\r\n" + b"\0" * 0x10000 + b"\r\n"
    sent = 0
    try:
        while sent < most:
            connection.sendall(chunk)
            sent += 0x10000
    except (ConnectionError, TimeoutError):
        pass
    return sent


def closes_within(connection: socket.socket, secs: float) -> bool:
    """Tell whether the server ends the connection in that time."""
    deadline = time.monotonic() + secs
    connection.settimeout(secs)
    try:
        while time.monotonic() < deadline:
            if not connection.recv(65536):
                return True
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return False
