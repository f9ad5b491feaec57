"""Findings from JSON lines: what the parent believes of what the child wrote."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ingestion.errors import BY_CODE, Internal
from ingestion.extract.base import Element, Finding, Kind, Opened, Progress, Warned
from ingestion.extract.cleaning import clean
from kb.locations import LocatedText, OnPage, Place, load_spans

MAX_LINE_BYTES = 16 * 2**20
# Boxes travel rounded to 1/100 point.
TOLERANCE = 0.01

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Words = Annotated[str, Field(max_length=1000)]


class Untrue(ValueError):
    """A line that an honest child would not have written."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Opened(_Message):
    type: Literal["Opened"]
    file_type: Annotated[str, Field(max_length=20)]
    mime_type: Annotated[str, Field(max_length=100)]
    page_count: Count | None

    def read(self) -> Finding:
        return Opened(self.file_type, self.mime_type, self.page_count)


class _Progress(_Message):
    type: Literal["Progress"]
    done: Count
    total: Positive

    def read(self) -> Finding:
        return Progress(min(self.done, self.total), self.total)


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


class _Element(_Message):
    type: Literal["Element"]
    kind: Kind
    text: str
    spans: list[_OnPage | _InTime]
    level: Annotated[int, Field(ge=1, le=9)] | None
    font_size: FiniteFloat | None
    bold: bool

    def read(self) -> Finding:
        located = LocatedText(self.text, load_spans(dict(line) for line in self.spans))
        _check(located)
        return Element(self.kind, located, self.level, self.font_size, self.bold)


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


_MESSAGES: TypeAdapter[_Opened | _Progress | _Warned | _Element | _Error | _End] = TypeAdapter(
    Annotated[_Opened | _Progress | _Warned | _Element | _Error | _End, Field(discriminator="type")]
)


def read_line(line: bytes) -> Finding | None:
    """Return the finding in a line, or None for the line that ends the stream.

    Raise the `IngestionError` that the line reports, or `Untrue`.
    """
    try:
        message = _MESSAGES.validate_json(line)
    except ValidationError as error:
        raise Untrue(str(error)) from error
    return message.read()


def _check(located: LocatedText) -> None:
    if clean(located.text) != located.text:
        raise Untrue("control characters in the text")
    at = 0
    for span in located.spans:
        if not at <= span.start < span.end <= len(located.text):
            raise Untrue("spans overlap or leave the text")
        if not _is_possible(span.place):
            raise Untrue("a place outside its page or time")
        at = span.end


def _is_possible(place: Place) -> bool:
    if not isinstance(place, OnPage):
        return 0 <= place.start <= place.end
    box, page = place.box, place.page
    across = -TOLERANCE <= box.x1 <= box.x2 <= page.width + TOLERANCE
    return across and -TOLERANCE <= box.y1 <= box.y2 <= page.height + TOLERANCE
