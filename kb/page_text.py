"""The text of a page that was fetched from the web, by whoever can read files.

`search` reads pages, `ingestion` knows how, and neither knows the other: `ingestion` provides its reader here
when it is ready.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PageText:
    """What a reader of the page sees: its own title, and its paragraphs parted by empty lines."""

    title: str | None
    text: str


class Unreadable(Exception):
    """The file has no text to be read; `code` is one of contract §4, the message says what to do next."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


PageReader: TypeAlias = Callable[[Path, int, float, float, Callable[[], None]], PageText]
_readers: list[PageReader] = []


def provide(reader: PageReader) -> None:
    """Make a reader known; apps do so when they are ready."""
    _readers[:] = [reader]


def read_page(
    path: Path,
    *,
    max_chars: int,
    timeout_secs: float,
    enough_secs: float | None = None,
    while_waiting: Callable[[], None] = lambda: None,
) -> PageText:
    """Return the text of a file in a process of its own, or raise `Unreadable`.

    Reading stops once there are `max_chars`, or any text after `enough_secs`. `while_waiting` is called
    several times a second; what it raises ends the reading.
    """
    [reader] = _readers
    return reader(path, max_chars, timeout_secs, enough_secs or timeout_secs, while_waiting)
