"""The worker's side: extracts a file by child processes, and loses at most one unit when one crashes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path

from extract.base import Finding, Limits, Opened, Request, UnitRead
from extract.sandbox.child import SandboxLimits
from extract.sandbox.prefetch import Prefetcher
from extract.sandbox.supervised import SupervisedExtraction

__all__ = ["SandboxLimits", "extract"]

HALVED = frozenset({"pdf"})
WORTH_HALVING = 16
CORES = os.cpu_count() or 1


def extract(
    path: Path,
    limits: SandboxLimits,
    *,
    deep: bool = False,
    pictures: bool = False,
    units: tuple[int, ...] | None = None,
    main_content: bool = False,
    promised: str | None = None,
    suffix: str | None = None,
    speech_model: str = "auto",
    voice_graph: Path | None = None,
    attachments: Path | None = None,
    while_waiting: Callable[[], None] = lambda: None,
) -> Generator[Finding, None, None]:
    """Yield the findings of child processes; raise a `DocumentError` if nothing can be read.

    A unit that crashes its child is read once more, alone and in safe mode. If that fails too, it is reported
    as unreadable, and extraction continues after it. A child that was killed from outside is first replaced
    once. The parameters are those of `Request`. `while_waiting` is called several times a second while there
    is nothing to read; an exception from it ends the extraction.
    """
    request = Request(
        Limits(limits.max_pages),
        units,
        deep,
        pictures=pictures,
        main_content=main_content,
        promised=promised,
        suffix=suffix,
        speech_model=speech_model,
        voice_graph=voice_graph,
        attachments=attachments,
    )
    return _findings(SupervisedExtraction(path, limits, request, while_waiting))


def _findings(reading: SupervisedExtraction) -> Generator[Finding, None, None]:
    """Yield all findings; the two halves of a long file are read at the same time."""
    findings = reading.findings()
    for finding in findings:
        yield finding
        if isinstance(finding, Opened) and _is_worth_halving(finding, reading.request):
            yield from _in_halves(reading, finding, findings)


def _is_worth_halving(opened: Opened, request: Request) -> bool:
    # A recognition model already uses all cores.
    is_whole = request.units is None and not request.deep
    return is_whole and opened.file_type in HALVED and opened.units >= WORTH_HALVING and CORES > 1


def _in_halves(
    first: SupervisedExtraction, opened: Opened, findings: Generator[Finding, None, None]
) -> Iterator[Finding]:
    middle = opened.units // 2
    second_half = replace(first.request, units=tuple(range(middle + 1, opened.units + 1)))
    with Prefetcher(first.path, first.limits, second_half, opened) as second:
        for finding in findings:
            yield finding
            if isinstance(finding, UnitRead) and finding.number == middle:
                break
        findings.close()
        yield from second.findings(first.while_waiting)
