"""A cable that can be pulled: what runs through it waits, unanswered, until it is plugged in again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Opened = Callable[[], Awaitable[Connection]]
BLOCK = 2**16


class Relay:
    """Passes bytes on between a port or socket of its own and a server's, in a thread of its own.

    While it is cut, nothing passes and nothing is refused, as where a network has failed. When it is joined
    again, the connections of that time are reset.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._passes = asyncio.Event()
        self._passes.set()
        self._opened: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        Thread(target=self._loop.run_forever, daemon=True).start()

    def to_port(self, port: int) -> int:
        """Begin to pass on to a port of loopback, and return the port to use instead."""

        async def listen() -> int:
            server = await asyncio.start_server(
                self._serve(lambda: asyncio.open_connection("127.0.0.1", port)), "127.0.0.1", 0
            )
            return int(server.sockets[0].getsockname()[1])

        return asyncio.run_coroutine_threadsafe(listen(), self._loop).result()

    def to_socket(self, target: Path, own: Path) -> None:
        """Begin to pass on to a unix socket from another one."""

        async def listen() -> None:
            await asyncio.start_unix_server(self._serve(lambda: asyncio.open_unix_connection(target)), own)

        asyncio.run_coroutine_threadsafe(listen(), self._loop).result()

    def cut(self) -> None:
        """Let nothing pass any more."""
        self._loop.call_soon_threadsafe(self._passes.clear)

    def join(self) -> None:
        """Reset what was connected, and let all pass again."""

        def join() -> None:
            for writer in self._opened:
                writer.transport.abort()
            self._passes.set()

        self._loop.call_soon_threadsafe(join)

    def _serve(self, connect: Opened) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._join_up(connect, reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return begin

    async def _join_up(
        self, connect: Opened, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        mine = {writer}
        self._opened |= mine
        try:
            await self._passes.wait()
            there = await connect()
            mine.add(there[1])
            self._opened |= mine
            await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))
        except OSError:
            # Either side is gone; the other one learns it below.
            pass
        finally:
            self._opened -= mine
            for each in mine:
                each.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while block := await reader.read(BLOCK):
            await self._passes.wait()
            writer.write(block)
            await writer.drain()
        with suppress(OSError):
            writer.write_eof()
