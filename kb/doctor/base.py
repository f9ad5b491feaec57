"""Checks, findings and results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

from kb.models import Document

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: the document's id or the file's path, and a description."""

    subject: str
    detail: str


class Unrepairable(Exception):
    """The repair would do harm; the message says what to check."""


@dataclass(frozen=True, slots=True)
class Check:
    """A kind of fault: how to find all of them, and how to repair one."""

    code: str
    what: str
    remedy: str
    find: Callable[[], Iterator[Finding]]
    repair: Callable[[Finding], None]


@dataclass(slots=True)
class Result:
    """The result of a check; `refused` is the reason why the repair was not done."""

    check: Check
    count: int = 0
    examples: list[Finding] = field(default_factory=list)
    repaired: int = 0
    refused: str = ""


def examine(check: Check) -> Result:
    """Count the faults of one kind, keeping some as examples."""
    result = Result(check)
    for finding in check.find():
        result.count += 1
        if len(result.examples) < EXAMPLES:
            result.examples.append(finding)
    return result


def repair(result: Result) -> None:
    """Repair the faults of one kind, and count them."""
    try:
        for finding in result.check.find():
            result.check.repair(finding)
            result.repaired += 1
    except Unrepairable as reason:
        result.refused = str(reason)


def lock_document(id: str) -> Document | None:
    """Return the document, locked until the transaction ends, or None if it is gone."""
    return Document.unscoped.select_for_update().filter(pk=UUID(id)).first()
