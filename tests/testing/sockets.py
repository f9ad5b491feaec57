"""Websockets into the real ASGI application, without a network between."""

from __future__ import annotations

from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator


class Socket(WebsocketCommunicator):
    """A websocket that lets database connections go back to the pool, as they do in production.

    Channels' own class keeps them for the sake of tests inside a transaction; ours would run the pool dry.
    """

    send_input = ApplicationCommunicator.send_input
    receive_output = ApplicationCommunicator.receive_output


def socket(path: str, headers: list[tuple[bytes, bytes]]) -> Socket:
    """Return a socket to `path`; `connect()` opens it."""
    from locus.asgi import application

    return Socket(application, path, headers=headers)
