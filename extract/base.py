"""What an extractor is: a function from a file to a stream of findings.

Extractors run in the limited child process (`extract.sandbox`), so nothing here may import Django.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.locations import LocatedText, PageBox


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
    HIDDEN = "hidden"  # what a reader of the document can't see: reported, but no content


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture: its box, by what its pixels are known again, and what recognition alone can read in it.

    Only an extractor that is asked for pictures tells of them, as part of their unit. Words that the unit's
    elements hold already are not repeated. `area` is None in kinds without coordinates.
    """

    area: PageBox | None
    fingerprint: str = ""
    words: tuple[LocatedText, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """A paragraph, heading, … in reading order, with the place of each of its words.

    `font_size` (points) and `bold` are hints for `ingestion.structure`; `level` is a heading's depth, 1
    outermost, where the file itself says so. A table's text is Markdown; `rows` are start and end of each
    of its rows, the first of which ends with the line that separates the header from the rest. `picture` is
    the one that it belongs to, and `machine` names the model whose words they are, if not the document's own.
    """

    kind: Kind
    located: LocatedText
    level: int | None = None
    font_size: float | None = None
    bold: bool = False
    rows: tuple[tuple[int, int], ...] = ()
    picture: Pictured | None = None
    machine: str | None = None

    @property
    def text(self) -> str:
        """The element's words."""
        return self.located.text


@dataclass(frozen=True, slots=True)
class Opened:
    """The file's kind is known and it could be opened.

    `units` is how many `UnitRead` a whole reading yields; `page_count` counts what has an image of its own
    (pages, slides, pictures); `duration` is in seconds; `title` is what the file itself says it is called.
    """

    file_type: str
    mime_type: str
    units: int = 1
    page_count: int | None = None
    duration: float | None = None
    title: str | None = None
    is_cut_off: bool = False
    """The end of the file is missing: what could be read may not be all."""


class TextOrigin(StrEnum):
    """Where the text of a unit comes from, or why there is none."""

    TEXT = "text"
    OCR = "ocr"
    SPEECH = "speech"
    BLANK = "blank"
    PENDING = "pending"  # there is something that only a deep reading can tell
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class UnitRead:
    """A unit is a page, or a stretch of a recording, or a whole file that has no such parts.

    All its elements came before this finding, and none will come after. Should the child die, what was read
    of earlier units stays, and reading goes on behind the unit that killed it.
    """

    number: int
    source: TextOrigin
    confidence: float | None = None
    """Of OCR or speech recognition: 0 to 1, the mean over its words."""
    tables: int = 0
    pictures: int = 0
    speech_secs: float | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """A file inside the file, such as an e-mail's attachment: in `Request.attachments` under `stored`."""

    name: str
    stored: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know about a document that is usable all the same."""

    code: str
    message: str


Finding = Opened | Element | Pictured | UnitRead | Attached | Warned


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may cost."""

    max_pages: int


@dataclass(frozen=True, slots=True)
class Request:
    """What to read of a file, and how."""

    limits: Limits
    units: tuple[int, ...] | None = None
    """The units to read, counted from 1 and ascending; None for all."""
    deep: bool = False
    """Read with models what has no text of its own: recognise characters and speech. Takes its time."""
    safe_mode: bool = False
    """Read in the sturdiest way there is: the usual one has killed the reader."""
    pictures: bool = False
    """Look for pictures, and for nothing else; of kinds that have pages."""
    main_content: bool = False
    """Of a web page, read what it is about and leave out what surrounds that on every page of its site."""
    attachments: Path | None = None
    """The folder for the files inside the file; without one they are left alone."""


Extractor = Callable[[Path, Request], Iterator[Finding]]
"""Yields `Opened` first, then each unit's elements and its `UnitRead`; raises `IngestionError`."""
