"""One extraction, continued by new child processes after crashes."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path

from core.errors import DocumentError
from extract.base import Element, Finding, Opened, Pictured, Request, TextOrigin, UnitRead
from extract.errors import ExtractionTimeout, Internal, OutOfMemory
from extract.sandbox.child import Child, ChildExited, SandboxLimits
from extract.sandbox.wire import ProtocolError, read_line

# After so many crashes, more can be expected.
MOST_CRASHES = 8


class SupervisedExtraction:
    """The rest of a request after each crash; `opened` is what is known of the file beforehand."""

    def __init__(
        self,
        path: Path,
        limits: SandboxLimits,
        request: Request,
        while_waiting: Callable[[], None],
        opened: Opened | None = None,
    ) -> None:
        self.path, self.limits, self.request = path, limits, request
        self.while_waiting = while_waiting
        self.opened = opened
        self.last = 0
        self.killed_at: int | None = None
        self.crashes = 0
        self.due = time.monotonic() + limits.total_secs

    def findings(self) -> Generator[Finding, None, None]:
        """Yield everything, unit by unit."""
        request = self.request
        while True:
            try:
                yield from self._attempt(request)
                return
            except ChildExited as crash:
                left = self._units_left()
                if crash.was_killed and left and left[0] != self.killed_at:
                    self.killed_at = left[0]
                    request = replace(self.request, units=left if self.opened else self.request.units)
                    continue
                self.crashes += 1
                if not left or self.crashes > MOST_CRASHES:
                    raise crash.cause from None
                yield from self._read_in_safe_mode(left[0], crash)
                if not left[1:]:
                    return
                request = replace(self.request, units=left[1:])

    def _units_left(self) -> tuple[int, ...]:
        """Return the units not completely read, the one that crashed the child first."""
        if self.opened is None:
            return (1,)
        wanted = self.request.units or range(1, self.opened.units + 1)
        return tuple(unit for unit in wanted if unit > self.last)

    def _read_in_safe_mode(self, unit: int, crash: ChildExited) -> Iterator[Finding]:
        """Read one unit alone, in safe mode."""
        is_whole = self.opened is None or self.opened.units == 1
        try:
            yield from self._attempt(
                replace(self.request, units=None if is_whole else (unit,), safe_mode=True)
            )
        except (ChildExited, DocumentError):
            if is_whole:
                raise crash.cause from None
            self.last = unit
            yield UnitRead(unit, TextOrigin.UNREADABLE)

    def _attempt(self, request: Request) -> Iterator[Finding]:
        """Yield the findings of one child; the elements of a unit only when it is complete."""
        unit: list[Finding] = []
        with Child(self.path, request, self.limits) as child:
            for finding in self._read(child):
                match finding:
                    case Opened():
                        if self.opened is None:
                            self.opened = finding
                            yield finding
                    case UnitRead():
                        yield from unit
                        yield finding
                        unit.clear()
                        self.last = finding.number
                        child.grant_time()
                        self._check_total()
                    case Element() | Pictured():
                        unit.append(finding)
                    case _:
                        yield finding
        if unit:
            raise Internal from ProtocolError("elements of no unit")

    def _read(self, child: Child) -> Iterator[Finding]:
        try:
            for line in child.lines(self.while_waiting):
                finding = read_line(line)
                if finding is None:
                    return
                yield finding
        except ProtocolError as lie:
            raise Internal from lie
        except OutOfMemory as error:
            raise ChildExited(error) from error

    def _check_total(self) -> None:
        if time.monotonic() > self.due:
            raise ExtractionTimeout
