"""Ends all runs when the web server is stopped, while clients can still receive their terminal events.

With `DRAIN_SECS` they may first end by themselves: the server takes no new connections, and says so at
`/readyz`, until its runs have ended or the time is over (ADR 67).
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from types import FrameType
from typing import Any

from django.conf import settings

from core.process.readiness import begin_draining
from runs.running import stop_all, wait_until_idle, wait_until_stopped

SIGNALS = (signal.SIGTERM, signal.SIGINT)
HEARD_SECS = 0.2
"""The time that followers of a run have to read its end: servers close websockets at once."""
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def lifespan(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Follow ASGI's lifespan protocol: https://asgi.readthedocs.io/en/latest/specs/lifespan.html.

    A server sends its word of the end only after it has waited for its streams, and streams last as long as
    the runs they follow. So the runs end by the signal, and the word is there for what has begun since.
    """
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            _install_signal_handlers(asyncio.get_running_loop())
            await send({"type": "lifespan.startup.complete"})
        else:
            stop_all(asyncio.get_running_loop())
            await wait_until_stopped()
            await send({"type": "lifespan.shutdown.complete"})
            return


def _install_signal_handlers(loop: asyncio.AbstractEventLoop) -> None:
    # Only the main thread can handle signals; a server in another thread is stopped by other means.
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            _handle_signal(number, loop)


def _handle_signal(number: signal.Signals, loop: asyncio.AbstractEventLoop) -> None:
    """End the runs before the server's own handler runs; a second signal calls that handler at once."""
    servers = signal.getsignal(number)
    if not callable(servers):
        return
    ending: list[Future[None]] = []

    async def end_first() -> None:
        begin_draining()
        if settings.DRAIN_SECS:
            _stop_listening(servers)
            await wait_until_idle(settings.DRAIN_SECS)
        stop_all(loop)
        await wait_until_stopped()
        await asyncio.sleep(HEARD_SECS)
        servers(number, None)

    def handle(received: int, frame: FrameType | None) -> None:
        if ending:
            servers(received, frame)
        else:
            ending.append(asyncio.run_coroutine_threadsafe(end_first(), loop))

    signal.signal(number, handle)


def _stop_listening(handler: Callable[..., Any]) -> None:
    """Close the ports of the server whose handler of signals this is; its connections stay."""
    server = getattr(handler, "__self__", None)
    for port in getattr(server, "servers", ()):
        port.close()
