"""The worker's side: read a file through children, and lose no more than a unit when one dies."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path

from ingestion.errors import ExtractionTimeout, IngestionError, Internal, OutOfMemory
from ingestion.extract.base import Element, Finding, Limits, Opened, Request, Source, UnitRead
from ingestion.sandbox.child import Child, Death, SandboxLimits
from ingestion.sandbox.wire import Untrue, read_line

__all__ = ["SandboxLimits", "extract"]

# A file that kills its reader so often will do so again.
MOST_DEATHS = 8


def extract(
    path: Path,
    limits: SandboxLimits,
    *,
    deep: bool = False,
    units: tuple[int, ...] | None = None,
    main_content: bool = False,
    attachments: Path | None = None,
    while_waiting: Callable[[], None] = lambda: None,
) -> Generator[Finding, None, None]:
    """Yield what children find in the file; raise `IngestionError` if nothing is to be had.

    A unit that kills its child is read once more, alone and in the simplest way. If that fails too, it is
    reported as unreadable, and reading goes on behind it. A child that was killed from outside is replaced
    once before that. The parameters are those of `Request`; `while_waiting` is called several times a second
    while there is nothing to read, and may raise.
    """
    request = Request(
        Limits(limits.max_pages), units, deep, main_content=main_content, attachments=attachments
    )
    return _Reading(path, limits, request, while_waiting).findings()


class _Reading:
    """One reading of a file, by as many children as it takes."""

    def __init__(
        self, path: Path, limits: SandboxLimits, request: Request, while_waiting: Callable[[], None]
    ) -> None:
        self.path, self.limits, self.request = path, limits, request
        self.while_waiting = while_waiting
        self.opened: Opened | None = None
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
            except Death as death:
                left = self._units_left()
                if death.was_killed and left and left[0] != self.killed_at:
                    self.killed_at = left[0]
                    request = replace(self.request, units=left if self.opened else self.request.units)
                    continue
                self.deaths += 1
                if not left or self.deaths > MOST_DEATHS:
                    raise death.cause from None
                yield from self._sturdily(left[0], death)
                if not left[1:]:
                    return
                request = replace(self.request, units=left[1:])

    def _units_left(self) -> tuple[int, ...]:
        """Return the units that were not read to their end, the one that killed the child first."""
        if self.opened is None:
            return (1,)
        wanted = self.request.units or range(1, self.opened.units + 1)
        return tuple(unit for unit in wanted if unit > self.last)

    def _sturdily(self, unit: int, death: Death) -> Iterator[Finding]:
        """Read one unit alone, in the simplest way there is."""
        is_whole = self.opened is None or self.opened.units == 1
        try:
            yield from self._attempt(replace(self.request, units=None if is_whole else (unit,), simple=True))
        except (Death, IngestionError):
            if is_whole:
                raise death.cause from None
            self.last = unit
            yield UnitRead(unit, Source.UNREADABLE)

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
                    case Element():
                        unit.append(finding)
                    case _:
                        yield finding
        if unit:
            raise Internal from Untrue("elements of no unit")

    def _read(self, child: Child) -> Iterator[Finding]:
        try:
            for line in child.lines(self.while_waiting):
                finding = read_line(line)
                if finding is None:
                    return
                yield finding
        except Untrue as lie:
            raise Internal from lie
        except OutOfMemory as error:
            raise Death(error) from error

    def _check_total(self) -> None:
        if time.monotonic() > self.due:
            raise ExtractionTimeout
