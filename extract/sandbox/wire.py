"""Reads findings from JSON lines, and checks all that a child wrote."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le, lt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from core.locations import Box, InFile, LocatedText, Page, PageBox, PageLine, WordRun
from extract.base import (
    Attached,
    Element,
    Finding,
    Kind,
    Opened,
    Pictured,
    TextOrigin,
    UnitRead,
    Warned,
)
from extract.cleaning import clean
from extract.errors import BY_CODE, Internal

MAX_LINE_BYTES = 16 * 2**20
# Boxes are written rounded to 1/100 point.
TOLERANCE = 0.01

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Secs = Annotated[FiniteFloat, Field(ge=0)]
Words = Annotated[str, Field(max_length=1000)]


class ProtocolError(ValueError):
    """A line that an intact child would not have written."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Opened(_Message):
    type: Literal["Opened"]
    file_type: Annotated[str, Field(max_length=20)]
    mime_type: Annotated[str, Field(max_length=100)]
    units: Positive
    page_count: Count | None
    duration: Secs | None
    title: str | None
    is_cut_off: bool

    def read(self) -> Finding:
        title = clean(self.title)[:500].strip() if self.title else None
        return Opened(
            *(self.file_type, self.mime_type, self.units, self.page_count, self.duration),
            title=title or None,
            is_cut_off=self.is_cut_off,
        )


class _UnitRead(_Message):
    type: Literal["UnitRead"]
    number: Positive
    source: TextOrigin
    confidence: Share | None
    tables: Count
    pictures: Count
    speech_secs: Secs | None

    def read(self) -> Finding:
        return UnitRead(
            *(self.number, self.source, self.confidence, self.tables, self.pictures, self.speech_secs)
        )


class _Attached(_Message):
    type: Literal["Attached"]
    name: Words
    # A plain name: nothing outside our folder may be named.
    stored: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]

    def read(self) -> Finding:
        return Attached(clean(self.name), self.stored)


class _Warned(_Message):
    type: Literal["Warned"]
    code: Annotated[str, Field(max_length=50)]
    message: Words

    def read(self) -> Finding:
        return Warned(self.code, self.message)


class _OnPage(TypedDict):
    page: tuple[Positive, FiniteFloat, FiniteFloat]
    line: Count
    words: list[tuple[Count, Count, FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]]


class _InTime(TypedDict):
    words: list[tuple[Count, Count, FiniteFloat, FiniteFloat]]


class _File(TypedDict, total=False):
    lines: tuple[Positive, Positive]
    slide: Positive
    sheet: Annotated[str, Field(max_length=255)]
    cells: tuple[Positive, Positive, Positive, Positive]


_InFile = TypedDict("_InFile", {"in": _File, "words": list[tuple[Count, Count]]})
# The first type that fits: comparing how well each fits would read every word three times.
_Span = Annotated[_OnPage | _InTime | _InFile, Field(union_mode="left_to_right")]


Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{0,32}$")]


class _Element(_Message):
    type: Literal["Element"]
    kind: Kind
    text: str
    spans: list[_Span]
    level: Annotated[int, Field(ge=1, le=9)] | None
    font_size: FiniteFloat | None
    bold: bool
    italic: bool
    lead: Count
    rows: list[tuple[Count, Count]]
    picture: Fingerprint | None = None
    is_label: bool = False
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] | None = None
    speaker: Annotated[str, Field(max_length=100)] | None = None
    voice: Annotated[tuple[FiniteFloat, ...], Field(max_length=1024)] = ()

    def read(self) -> Finding:
        located = LocatedText.load(self.text, self.spans)
        _check(located, self.rows)
        if self.lead > len(self.text):
            raise ProtocolError("a lead longer than its text")
        picture = None if self.picture is None else Pictured(None, self.picture)
        return Element(
            *(self.kind, located, self.level, self.font_size, self.bold, self.italic, self.lead),
            tuple(self.rows),
            picture,
            is_label=self.is_label,
            language=self.language,
            speaker=clean(self.speaker) if self.speaker else None,
            voice=self.voice,
        )


class _Area(TypedDict):
    page: tuple[Positive, FiniteFloat, FiniteFloat]
    box: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]


class _Located(TypedDict):
    text: str
    spans: list[_Span]


class _Pictured(_Message):
    type: Literal["Pictured"]
    area: _Area | None
    fingerprint: Fingerprint
    words: Annotated[list[_Located], Field(max_length=1000)]

    def read(self) -> Finding:
        area = self.area and PageBox(Box(*self.area["box"]), Page(*self.area["page"]))
        if area:
            _check_area(area)
        words = tuple(LocatedText.load(each["text"], each["spans"]) for each in self.words)
        for located in words:
            _check(located, [])
        return Pictured(area, self.fingerprint, words)


def _check_area(area: PageBox) -> None:
    left, top, right, bottom = area.box
    across = left < right and _is_within([left], [right], area.page.width)
    if not (across and top < bottom and _is_within([top], [bottom], area.page.height)):
        raise ProtocolError("a picture outside its page")


class _Error(_Message):
    type: Literal["Error"]
    code: str
    message: Words

    def read(self) -> Finding:
        raise BY_CODE.get(self.code, Internal)(self.message)


class _End(_Message):
    type: Literal["End"]

    def read(self) -> None:
        return None


_Any = _Opened | _UnitRead | _Attached | _Warned | _Element | _Pictured | _Error | _End
_MESSAGES: TypeAdapter[_Any] = TypeAdapter(Annotated[_Any, Field(discriminator="type")])


def read_line(line: bytes) -> Finding | None:
    """Return the finding in a line, or None for the line that ends the stream.

    Raise the `DocumentError` that the line reports, or `ProtocolError`.
    """
    try:
        message = _MESSAGES.validate_json(line)
    except ValidationError as error:
        raise ProtocolError(str(error)) from error
    return message.read()


def _check(located: LocatedText, rows: list[tuple[int, int]]) -> None:
    if clean(located.text) != located.text:
        raise ProtocolError("control characters in the text")
    _check_order([word for run in located.runs for word in run.words], located.text)
    _check_order(rows, located.text)
    if not all(map(_is_possible, located.runs)):
        raise ProtocolError("a place outside its page, file or time")


# There are hundreds of thousands of words: nothing here loops over them in Python.


def _check_order(stretches: Sequence[tuple[Any, ...]], text: str) -> None:
    starts, ends = [each[0] for each in stretches], [each[1] for each in stretches]
    if not (all(map(lt, starts, ends)) and all(map(le, [0, *ends], [*starts, len(text)]))):
        raise ProtocolError("stretches overlap or leave the text")


def _is_possible(run: WordRun) -> bool:
    if not run.words:
        return False
    match run.place:
        case PageLine(page):
            _, _, lefts, tops, rights, bottoms = zip(*run.words, strict=True)
            across = _is_within(lefts, rights, page.width)
            return across and _is_within(tops, bottoms, page.height)
        case None:
            _, _, starts, ends = zip(*run.words, strict=True)
            return min(starts) >= 0 and all(map(le, starts, ends))
        case InFile(lines, _, sheet, cells):
            in_order = lines is None or lines[0] <= lines[1]
            is_range = cells is None or (cells[0] <= cells[2] and cells[1] <= cells[3])
            return in_order and is_range and sheet != ""


def _is_within(froms: Sequence[float], tos: Sequence[float], end: float) -> bool:
    return min(froms) >= -TOLERANCE and max(tos) <= end + TOLERANCE and all(map(le, froms, tos))
