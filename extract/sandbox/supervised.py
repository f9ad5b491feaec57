"""One reading of a file, by as many children as it takes."""

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

# A file that kills its reader so often will do so again.
MOST_DEATHS = 8


class SupervisedExtraction:
    """What is left of a request after each death; `opened` is what is known of the file beforehand."""

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
        self.deaths = 0
        self.due = time.monotonic() + limits.total_secs

    def findings(self) -> Generator[Finding, None, None]:
        """Yield everything, unit by unit."""
        request = self.request
        while True:
            try:
                yield from self._attempt(request)
                return
            except ChildExited as death:
                left = self._units_left()
                if death.was_killed and left and left[0] != self.killed_at:
                    self.killed_at = left[0]
                    request = replace(self.request, units=left if self.opened else self.request.units)
                    continue
                self.deaths += 1
                if not left or self.deaths > MOST_DEATHS:
                    raise death.cause from None
                yield from self._read_in_safe_mode(left[0], death)
                if not left[1:]:
                    return
                request = replace(self.request, units=left[1:])

    def _units_left(self) -> tuple[int, ...]:
        """Return the units that were not read to their end, the one that killed the child first."""
        if self.opened is None:
            return (1,)
        wanted = self.request.units or range(1, self.opened.units + 1)
        return tuple(unit for unit in wanted if unit > self.last)

    def _read_in_safe_mode(self, unit: int, death: ChildExited) -> Iterator[Finding]:
        """Read one unit alone, in the simplest way there is."""
        is_whole = self.opened is None or self.opened.units == 1
        try:
            yield from self._attempt(
                replace(self.request, units=None if is_whole else (unit,), safe_mode=True)
            )
        except (ChildExited, DocumentError):
            if is_whole:
                raise death.cause from None
            self.last = unit
            yield UnitRead(unit, TextOrigin.UNREADABLE)

    def _attempt(self, request: Request) -> Iterator[Finding]:
        """Yield what one child finds; the elements of a unit only once it is complete."""
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
