"""Reads the second half of a file while the first half is being read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from extract.base import Finding, Opened, Request
from extract.sandbox.child import SandboxLimits
from extract.sandbox.supervised import SupervisedExtraction

WAIT_SECS = 0.2


class _StopPrefetch(Exception):
    """The rest is no longer needed."""


class Prefetcher:
    """A context manager around an extraction in a thread; leaving it ends the extraction."""

    def __init__(self, path: Path, limits: SandboxLimits, request: Request, opened: Opened) -> None:
        self._found: SimpleQueue[Finding | Exception | None] = SimpleQueue()
        self._is_enough = threading.Event()
        reading = SupervisedExtraction(path, limits, request, self._check, opened)
        self._thread = threading.Thread(target=self._read, args=(reading.findings(),), name="ahead")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_enough.set()
        self._thread.join()

    def findings(self, while_waiting: Callable[[], None]) -> Iterator[Finding]:
        """Yield the findings in order; raise what the extraction raised."""
        while (found := self._next(while_waiting)) is not None:
            if isinstance(found, Exception):
                raise found
            yield found

    def _next(self, while_waiting: Callable[[], None]) -> Finding | Exception | None:
        while True:
            with suppress(Empty):
                return self._found.get(timeout=WAIT_SECS)
            while_waiting()

    def _read(self, findings: Generator[Finding, None, None]) -> None:
        try:
            with closing(findings):
                for finding in findings:
                    self._check()
                    self._found.put(finding)
        except _StopPrefetch:
            pass
        except Exception as error:  # noqa: BLE001  raised again where the findings are consumed
            self._found.put(error)
        self._found.put(None)

    def _check(self) -> None:
        if self._is_enough.is_set():
            raise _StopPrefetch
