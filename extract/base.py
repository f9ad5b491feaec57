"""What an extractor is: a function from a file to a stream of findings.

Extractors run in the limited child process (`extract.sandbox`), so nothing here may import Django.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.locations import LocatedText, PageBox

Voice = tuple[float, ...]
"""A unit vector that tells whose voice it is; empty where that is not asked or can't be told."""


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
    HIDDEN = "hidden"  # no reader of the document can see it: reported, but not content


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture: its box, a fingerprint of its pixels, and the words that only recognition can read in it.

    An extractor yields pictures only if the request asks for them, as part of their unit. Words that the
    unit's elements already hold are not repeated. `area` is None for kinds of file without coordinates.
    """

    area: PageBox | None
    fingerprint: str = ""
    words: tuple[LocatedText, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """A paragraph, heading, … in reading order, with the place of each of its words.

    `font_size` (points), `bold` and `italic` are hints for `ingestion.structure`, as is `lead`: so many
    characters at the beginning are bold or italic, unlike what follows; after that step they are a run-in
    heading. `level` is a heading's depth, 1 the outermost, where the file states it. A table's text is
    Markdown; `rows` holds start and end of each of its rows. The first of these rows ends with the line that
    separates the header from the rest.
    `picture` is the picture that the element belongs to. `machine` names the model that wrote the words,
    None if they are the document's own. A heading that `is_label` names what follows, and is no text of its
    own: a sheet's name, the name of a function. Without words, it leaves the headings of its level.
    `language` (ISO 639-1) and `speaker` are those of spoken words, None where the extractor can't tell.
    `voice` is how they sound; `ingestion.speakers` makes speakers of voices.
    `caption` and `notes` are a table's title and the footnotes below it; `ingestion.structure` finds them.
    """

    kind: Kind
    located: LocatedText
    level: int | None = None
    font_size: float | None = None
    bold: bool = False
    italic: bool = False
    lead: int = 0
    rows: tuple[tuple[int, int], ...] = ()
    picture: Pictured | None = None
    machine: str | None = None
    is_label: bool = False
    language: str | None = None
    speaker: str | None = None
    voice: Voice = ()
    caption: LocatedText | None = None
    notes: tuple[LocatedText, ...] = ()

    @property
    def text(self) -> str:
        """The element's words."""
        return self.located.text


@dataclass(frozen=True, slots=True)
class Opened:
    """The file was opened and its kind is known.

    `units` is the number of `UnitRead` findings that a full extraction yields. `page_count` counts what has
    an image of its own (pages, slides, pictures). `duration` is in seconds; `title` is the title that the
    file itself gives.
    """

    file_type: str
    mime_type: str
    units: int = 1
    page_count: int | None = None
    duration: float | None = None
    title: str | None = None
    is_cut_off: bool = False
    """The end of the file is missing: text may be missing, too."""


class TextOrigin(StrEnum):
    """Where the text of a unit comes from, or why there is none."""

    TEXT = "text"
    OCR = "ocr"
    SPEECH = "speech"
    BLANK = "blank"
    PENDING = "pending"  # only a deep extraction can tell whether there is text
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class UnitRead:
    """One unit was read: a page, a stretch of a recording, or a whole file that has no such parts.

    All elements of the unit come before this finding, none after it. If the child process exits, the units
    read so far are kept. Reading then continues after the unit that caused the exit.
    """

    number: int
    source: TextOrigin
    confidence: float | None = None
    """Mean confidence of OCR or speech recognition over all words, 0 to 1."""
    tables: int = 0
    pictures: int = 0
    speech_secs: float | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """A file inside the file, such as an e-mail's attachment; it lies in `Request.attachments` under
    `stored`."""

    name: str
    stored: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A problem that people should know about, though the document is usable."""

    code: str
    message: str


Finding = Opened | Element | Pictured | UnitRead | Attached | Warned


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one extraction."""

    max_pages: int


@dataclass(frozen=True, slots=True)
class Request:
    """What to read of a file, and how."""

    limits: Limits
    units: tuple[int, ...] | None = None
    """The units to read, counted from 1 and ascending; None for all."""
    deep: bool = False
    """Use models for what has no text of its own: recognise characters and speech. This is slow."""
    safe_mode: bool = False
    """Use the most robust parser, because the usual one has crashed on this unit."""
    pictures: bool = False
    """Look for pictures and for nothing else; only for kinds of file that have pages."""
    main_content: bool = False
    """Of a web page, read the main content and leave out navigation and whatever else all pages of the site
    repeat."""
    promised: str | None = None
    """The kind of file that the name promises, which tells plain texts apart; None without a telling name."""
    suffix: str | None = None
    """The lower-case extension of a name that promises source code: it tells the language."""
    speech_model: str = "auto"
    """What recognises speech: a packaged model's name or a folder with one (`extract.media.model`)."""
    voice_graph: Path | None = None
    """The folder with the network that tells voices apart (`extract.media.voices`); None to leave them."""
    attachments: Path | None = None
    """The folder for the files inside the file; None leaves them unread."""


Extractor = Callable[[Path, Request], Iterator[Finding]]
"""Yields `Opened` first, then the elements and the `UnitRead` of each unit; raises a `DocumentError`."""
