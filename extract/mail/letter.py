"""The common part of all e-mail formats: a subject, headers, a body, attached files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from extract.base import Attached, Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead, Warned
from extract.cleaning import clean
from extract.errors import Empty, FileTooLarge
from extract.kinds import KINDS
from extract.markup.html import html_elements
from extract.places import element, fold_spaces
from extract.text.plain import plain_elements

MAX_ATTACHMENTS = 200
MAX_ATTACHED_BYTES = 500 * 2**20
NAME_CHARS = 200
QUOTED = re.compile(r"(?:> ?)+")
TOO_MUCH = "The e-mail brings more attachments than we accept. Upload the ones you need by themselves."


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in an e-mail."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Letter:
    """An e-mail; `headers` are names and values in display order, `plain` is preferred to `html`."""

    subject: str
    headers: tuple[tuple[str, str], ...]
    plain: str
    html: str


def letter_findings(
    letter: Letter, attachments: Iterable[Attachment], file_type: str, request: Request
) -> Iterator[Finding]:
    """Yield the e-mail's elements, then its attachments as files; raise `Empty` or `FileTooLarge`."""
    elements = list(letter_elements(letter))
    files = list(_within_limits(attachments))
    if not elements and not files:
        raise Empty
    yield Opened(file_type, KINDS[file_type].mime_type, title=fold_spaces(letter.subject) or None)
    yield from elements
    if request.attachments is not None:
        yield from (
            store_attachment(file, number, request.attachments) for number, file in enumerate(files, start=1)
        )
    elif files:
        names = ", ".join(file.name for file in files)
        yield Warned("attachments_left_out", f"Attachments were not read: {names}."[:500])
    tables = sum(found.kind is Kind.TABLE for found in elements)
    yield UnitRead(1, TextOrigin.TEXT if elements else TextOrigin.BLANK, tables=tables)


def safe_name(name: str | None, number: int) -> str:
    """Return an attachment's own name without any folder, or a generated name if it has none."""
    plain = fold_spaces(clean(name or "")).replace("\\", "/").rpartition("/")[2].strip(". ")
    return plain[-NAME_CHARS:] or f"attachment {number}"


def letter_elements(letter: Letter) -> Iterator[Element]:
    """Yield an e-mail's subject, its other headers, and its body."""
    if subject := fold_spaces(letter.subject):
        yield element(Kind.HEADING, subject, level=1)
    for name, value in letter.headers:
        if said := fold_spaces(value):
            yield element(Kind.PARAGRAPH, f"{name}: {said}")
    yield from _body(letter)


def _body(letter: Letter) -> Iterator[Element]:
    if letter.plain.strip():
        yield from plain_elements(unquoted(letter.plain), with_lines=False)
    elif letter.html.strip():
        yield from html_elements(letter.html)


def unquoted(text: str) -> str:
    """Return a text without the marks of what it quotes (“> > ”, RFC 3676, 4.5).

    Where others speak, a paragraph begins. Without that, the marks stand amid the sentences of quoted lines.
    """
    lines: list[str] = []
    depth = 0
    for line in text.split("\n"):
        marks = QUOTED.match(line)
        now = marks[0].count(">") if marks else 0
        if now != depth:
            lines.append("")
        depth = now
        lines.append(line[marks.end() :] if marks else line)
    return "\n".join(lines)


def _within_limits(attachments: Iterable[Attachment]) -> Iterator[Attachment]:
    total = 0
    for number, attachment in enumerate(attachments, start=1):
        total += len(attachment.content)
        if number > MAX_ATTACHMENTS or total > MAX_ATTACHED_BYTES:
            raise FileTooLarge(TOO_MUCH)
        yield attachment


def store_attachment(attachment: Attachment, number: int | str, folder: Path) -> Attached:
    """Write an attachment to a folder, under a number that no other one of the file has."""
    stored = f"attachment-{number}"
    (folder / stored).write_bytes(attachment.content)
    return Attached(attachment.name, stored)
