"""Mailboxes: many letters in one file, each a unit, with its attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.errors import DocumentError
from extract.base import Attached, Finding, Kind, Opened, Request, TextOrigin, UnitRead, Warned
from extract.errors import TooManyPages
from extract.kinds import KINDS
from extract.mail.eml import letter_of
from extract.mail.letter import MAX_ATTACHMENTS, Attachment, letter_elements, store_attachment

# A letter begins with such a line after a blank one, and a header.
SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*+\r?\n(?=[A-Za-z-]++:)")
# A line of a letter that looks like that was marked when the letter was filed.
MARKED = re.compile(rb"^>(?=>*+From )", re.MULTILINE)
TOO_MANY = "The mailbox has {count:,} letters; at most {most:,} are accepted. Split it and upload the parts."


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the letters, each a unit; raise `TooManyPages`."""
    content = path.read_bytes()
    separators = list(SEPARATOR.finditer(content))
    starts = [match.end() for match in separators]
    ends = [*(match.start() for match in separators[1:]), len(content)]
    if len(starts) > request.limits.max_pages:
        raise TooManyPages(TOO_MANY.format(count=len(starts), most=request.limits.max_pages))
    yield Opened("mbox", KINDS["mbox"].mime_type, units=max(len(starts), 1))
    stored = 0
    for number in request.units or range(1, max(len(starts), 1) + 1):
        letter = content[starts[number - 1] : ends[number - 1]] if starts else content
        for finding in _unit(MARKED.sub(b"", letter), number, request, stored):
            stored += isinstance(finding, Attached)
            yield finding


def _unit(content: bytes, number: int, request: Request, stored: int) -> Iterator[Finding]:
    """Yield one letter; `stored` attachments of other letters are stored already."""
    try:
        letter, attachments = letter_of(content)
    except DocumentError:
        yield UnitRead(number, TextOrigin.UNREADABLE)
        return
    elements = list(letter_elements(letter))
    yield from elements
    yield from _attached(attachments, number, request, stored)
    tables = sum(found.kind is Kind.TABLE for found in elements)
    yield UnitRead(number, TextOrigin.TEXT if elements else TextOrigin.BLANK, tables=tables)


def _attached(
    attachments: Sequence[Attachment], number: int, request: Request, stored: int
) -> Iterator[Finding]:
    folder = request.attachments
    kept = attachments[: max(MAX_ATTACHMENTS - stored, 0)] if folder is not None else ()
    for at, attachment in enumerate(kept, start=1):
        assert folder is not None
        # Another child may have read the letters before this one.
        yield store_attachment(attachment, f"{number}-{at}", folder)
    if left := attachments[len(kept) :]:
        names = ", ".join(attachment.name for attachment in left)
        yield Warned("attachments_left_out", f"Attachments of letter {number} were not read: {names}."[:500])
