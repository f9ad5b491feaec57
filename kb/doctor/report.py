"""Examining everything, with progress, and what was found as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from kb.doctor.base import Check, Result, examine, repair

Progress = Callable[[str, float], None]
"""Takes what is being done, and how much of all is done, 0 to 1."""


def examine_all(checks: list[Check], note_progress: Progress) -> list[Result]:
    """Return the results of all checks."""
    results = []
    for number, check in enumerate(checks):
        note_progress(check.what, number / len(checks))
        results.append(examine(check))
    return results


def repair_all(results: list[Result], note_progress: Progress) -> None:
    """Repair what was found, and count in each result what was repaired."""
    found = [result for result in results if result.count]
    for number, result in enumerate(found):
        note_progress(f"{result.check.what}: {result.check.remedy}", number / len(found))
        repair(result)


def as_json(result: Result) -> dict[str, Any]:
    """Return a result with the words that describe its check."""
    return {
        "code": result.check.code,
        "what": result.check.what,
        "remedy": result.check.remedy,
        "count": result.count,
        "examples": [asdict(example) for example in result.examples],
        "repaired": result.repaired,
        "refused": result.refused or None,
    }
