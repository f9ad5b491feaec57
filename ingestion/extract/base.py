"""What an extractor is: a function from a file to a stream of findings.

Extractors run in the limited child process (`ingestion.sandbox`), so nothing here may import Django.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kb.locations import LocatedText


class Kind(StrEnum):
    """What an element is to a reader."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    TABLE = "table"
    PICTURE = "picture"
    CAPTION = "caption"
    PAGE_HEADER = "page_header"
    PAGE_FOOTER = "page_footer"


@dataclass(frozen=True, slots=True)
class Element:
    """A paragraph, heading, … in reading order, with the place of each of its words.

    `font_size` (points) and `bold` are hints for `ingestion.structure`; `level` is a heading's depth, 1
    outermost, where the file itself says so.
    """

    kind: Kind
    located: LocatedText
    level: int | None = None
    font_size: float | None = None
    bold: bool = False

    @property
    def text(self) -> str:
        """The element's words."""
        return self.located.text


@dataclass(frozen=True, slots=True)
class Opened:
    """The file's kind is known and it could be opened."""

    file_type: str
    mime_type: str
    page_count: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Pages (or whatever the kind consists of) read so far."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know about a document that is usable all the same."""

    code: str
    message: str


Finding = Opened | Element | Progress | Warned


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may cost."""

    max_pages: int


Extractor = Callable[[Path, Limits], Iterator[Finding]]
"""Yields `Opened` first, then the rest; raises `IngestionError`."""
