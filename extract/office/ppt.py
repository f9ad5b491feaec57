"""PowerPoint before 2007: the texts of each slide in the order of its outline, its other texts, its notes.

A file is a stream of records ([MS-PPT]). Each time it is saved, changed records are appended, with a list of
where the newest version of each stands.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import olefile

from core.locations import InFile
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.errors import NO_UNLOCKING, Corrupted, Encrypted, TooManyPages
from extract.kinds import KINDS
from extract.places import element, fold_spaces

# Types of records.
DOCUMENT, SLIDE, NOTES, SLIDE_ATOM = 0x03E8, 0x03EE, 0x03F0, 0x03EF
SLIDE_LIST, SLIDE_PERSIST = 0x0FF0, 0x03F3
TEXT_HEADER, TEXT_CHARS, TEXT_BYTES, OUTLINE_REFERENCE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0F9E
TEXT_BOX, USER_EDIT, PERSIST_DIRECTORY = 0xF00D, 0x0FF5, 0x1772
# Instances of the list of slides.
OF_SLIDES, OF_NOTES = 0, 2
TITLES, BODIES, OF_NOTE = frozenset({0, 6}), frozenset({1, 5, 7, 8}), 2
ENCRYPTED_TOKEN = 0xF3D1C4DF
DEEPEST, MOST_EDITS, MOST_RECORDS = 20, 10_000, 2_000_000
DAMAGED = (struct.error, IndexError, ValueError, OSError, KeyError, TypeError)


class _Record(NamedTuple):
    """A record of a stream: `data[start:end]` is its contents."""

    type: int
    instance: int
    start: int
    end: int
    is_container: bool


class _Text(NamedTuple):
    """A text and its type: title, body, notes, other."""

    type: int
    text: str


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the slides, each a unit; raise `Corrupted`, `Encrypted` or `TooManyPages`."""
    try:
        show = _Show(*_streams(path))
        slides = show.slides()
    except DAMAGED as error:
        raise Corrupted from error
    if len(slides) > request.limits.max_pages:
        raise TooManyPages
    units = max(len(slides), 1)
    yield Opened("ppt", KINDS["ppt"].mime_type, units=units, page_count=len(slides))
    for number in request.units or range(1, units + 1):
        if not slides:
            yield UnitRead(number, TextOrigin.BLANK)
            continue
        try:
            elements = list(show.elements(slides[number - 1], InFile(slide=number)))
        except DAMAGED:
            yield UnitRead(number, TextOrigin.UNREADABLE)
            continue
        yield from elements
        yield UnitRead(number, TextOrigin.TEXT if elements else TextOrigin.BLANK)


def _streams(path: Path) -> tuple[bytes, bytes]:
    """Return the streams of the current user and of the document."""
    with olefile.OleFileIO(str(path)) as ole:
        return tuple(ole.openstream(name).read() for name in ("Current User", "PowerPoint Document"))  # type: ignore[return-value]


class _Slide(NamedTuple):
    """A slide in the list of slides: where it stands, its number for notes, and the texts of its outline."""

    record: _Record | None
    id: int
    outline: list[_Text]


class _Show:
    """A presentation."""

    def __init__(self, user: bytes, data: bytes) -> None:
        self._data = data
        self._left = MOST_RECORDS
        token, edit = struct.unpack_from("<II", user, 12)
        if token == ENCRYPTED_TOKEN:
            raise Encrypted(NO_UNLOCKING)
        self._places, document = self._persisted(edit)
        self._document = self._record(self._places[document])

    def slides(self) -> list[_Slide]:
        """Return the slides in their order."""
        return self._listed(OF_SLIDES)

    def elements(self, slide: _Slide, place: InFile) -> Iterator[Element]:
        """Yield a slide's title as its heading, its outline, its other texts, and its notes."""
        texts = [*slide.outline, *self._boxed(slide.record)]
        for kind, of_title in ((Kind.HEADING, True), (Kind.PARAGRAPH, False)):
            for text in texts:
                if (text.type in TITLES) is of_title:
                    yield from _paragraphs(text, kind, place)
        for text in self._notes(slide):
            yield from _paragraphs(text, Kind.PARAGRAPH, place)

    def _notes(self, slide: _Slide) -> list[_Text]:
        atom = next((one for one in self._inside(slide.record) if one.type == SLIDE_ATOM), None)
        wanted = struct.unpack_from("<I", self._data, atom.start + 16)[0] if atom else 0
        notes = [note for note in self._listed(OF_NOTES) if wanted and note.id == wanted]
        return [text for note in notes for text in self._boxed(note.record) if text.type == OF_NOTE]

    # --- Records -------------------------------------------------------------------------------------------

    def _persisted(self, edit: int) -> tuple[dict[int, int], int]:
        """Return where the newest version of each object stands, and the number of the document."""
        places: dict[int, int] = {}
        document = 0
        for _ in range(MOST_EDITS):
            record = self._record(edit)
            if record.type != USER_EDIT:
                raise ValueError("no list of objects")
            before, directory, number = struct.unpack_from("<III", self._data, record.start + 8)
            document = document or number
            places = dict(self._directory(directory)) | places
            if not before or before >= edit:
                break
            edit = before
        return places, document

    def _directory(self, at: int) -> Iterator[tuple[int, int]]:
        record = self._record(at)
        position = record.start
        while position + 4 <= record.end:
            (head,) = struct.unpack_from("<I", self._data, position)
            first, count = head & 0xFFFFF, head >> 20
            offsets = struct.unpack_from(f"<{count}I", self._data, position + 4)
            yield from enumerate(offsets, start=first)
            position += 4 + 4 * count

    def _record(self, at: int) -> _Record:
        self._left -= 1
        if self._left < 0:
            raise ValueError("too many records")
        head, kind, length = struct.unpack_from("<HHI", self._data, at)
        start = at + 8
        return _Record(kind, head >> 4, start, min(start + length, len(self._data)), head & 0xF == 0xF)

    def _inside(self, container: _Record | None) -> Iterator[_Record]:
        at = container.start if container else 0
        while container and at + 8 <= container.end:
            record = self._record(at)
            yield record
            at = record.end

    def _all_inside(self, container: _Record, depth: int = 0) -> Iterator[_Record]:
        for record in self._inside(container):
            yield record
            if record.is_container and record.type != TEXT_BOX and depth < DEEPEST:
                yield from self._all_inside(record, depth + 1)

    def _listed(self, instance: int) -> list[_Slide]:
        """Return what a list of slides or notes names, with the texts that it holds itself."""
        found: list[_Slide] = []
        lists = [one for one in self._inside(self._document) if one.type == SLIDE_LIST]
        for slides in (one for one in lists if one.instance == instance):
            kind = 0
            for record in self._inside(slides):
                if record.type == SLIDE_PERSIST:
                    reference, _, _, number = struct.unpack_from("<IIII", self._data, record.start)
                    place = self._places.get(reference)
                    found.append(_Slide(None if place is None else self._record(place), number, []))
                kind = self._text_type(record, kind)
                if found and (text := self._text(record)):
                    found[-1].outline.append(_Text(kind, text))
        return found

    def _boxed(self, slide: _Record | None) -> Iterator[_Text]:
        """Yield the texts of the boxes on a slide that are not in its outline."""
        boxes = (one for one in self._all_inside(slide)) if slide else iter(())
        for box in (one for one in boxes if one.type == TEXT_BOX):
            records = list(self._inside(box))
            if any(record.type == OUTLINE_REFERENCE for record in records):
                continue
            kind = 4
            for record in records:
                kind = self._text_type(record, kind)
                if text := self._text(record):
                    yield _Text(kind, text)

    def _text_type(self, record: _Record, before: int) -> int:
        if record.type != TEXT_HEADER:
            return before
        return int(struct.unpack_from("<I", self._data, record.start)[0])

    def _text(self, record: _Record) -> str:
        content = self._data[record.start : record.end]
        if record.type == TEXT_CHARS:
            return content.decode("utf-16-le", "replace")
        # The low bytes of characters whose high byte is zero.
        return content.decode("latin-1") if record.type == TEXT_BYTES else ""


def _paragraphs(text: _Text, kind: Kind, place: InFile) -> Iterator[Element]:
    """Yield the paragraphs of a text; a title is one, however many lines it has."""
    parts = [text.text.replace("\r", " ")] if kind is Kind.HEADING else text.text.split("\r")
    is_list = text.type in BODIES and len(parts) > 1
    for part in parts:
        if words := fold_spaces(part.replace("\v", " ")):
            shown = Kind.LIST_ITEM if is_list and kind is Kind.PARAGRAPH else kind
            yield element(shown, words, place, level=1 if kind is Kind.HEADING else None)
