"""Web pages as plain text: read like documents, but not stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from core.errors import DocumentError
from extract.base import Element, Finding, Kind, Opened, UnitRead
from extract.errors import NoText, UnsupportedType
from extract.sandbox.parent import SandboxLimits, extract

NOT_CONTENT = frozenset({Kind.HIDDEN, Kind.PAGE_HEADER, Kind.PAGE_FOOTER})
READABLE = frozenset({"application/pdf", "application/json", "application/xml"})


@dataclass(frozen=True, slots=True)
class PageText:
    """The visible text of a page: its title, and its paragraphs separated by empty lines."""

    title: str | None
    text: str


class Unreadable(Exception):
    """The file has no text; `code` is one of contract §4, the message says what to do next."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def read_page(
    path: Path,
    *,
    max_chars: int,
    timeout_secs: float,
    enough_secs: float | None = None,
    while_waiting: Callable[[], None] = lambda: None,
) -> PageText:
    """Return the text of a page, a PDF or a text file, extracted in a process of its own.

    Nothing is recognised in pictures. Extraction stops at `max_chars`, or with any text after `enough_secs`.
    `while_waiting` is called several times a second; an exception from it ends the extraction. Raises
    `Unreadable`.
    """
    limits = SandboxLimits(
        timeout_secs, settings.EXTRACTION_MEMORY_BYTES, settings.MAX_PAGES, total_secs=timeout_secs
    )
    findings = extract(path, limits, main_content=True, while_waiting=while_waiting)
    try:
        # Closing the generator ends the child when there is enough text.
        with closing(findings):
            return _text(findings, max_chars, time.monotonic() + (enough_secs or timeout_secs))
    except DocumentError as error:
        raise Unreadable(error.code, error.message) from error


def _text(findings: Iterator[Finding], max_chars: int, enough_at: float) -> PageText:
    title: str | None = None
    parts: list[str] = []
    chars = 0
    for finding in findings:
        match finding:
            case Opened():
                _refuse_others(finding.mime_type)
                title = finding.title
            case Element(kind) if kind not in NOT_CONTENT:
                parts.append(f"- {finding.text}" if kind is Kind.LIST_ITEM else finding.text)
                chars += len(finding.text)
            case UnitRead() if chars and time.monotonic() >= enough_at:
                break
        if chars >= max_chars:
            break
    if not chars:
        raise NoText
    return PageText(title, "\n\n".join(parts))


def _refuse_others(mime_type: str) -> None:
    """Refuse files that are not what the server declares: the content decides."""
    if not (mime_type.startswith("text/") or mime_type in READABLE):
        raise UnsupportedType("This is no page, text or PDF, whatever the server calls it.")
