"""Outlook's `.msg` files."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from oxmsg import Message

from extract.base import Finding, Request
from extract.errors import Corrupted
from extract.mail.letter import Attachment, Letter, letter_findings, safe_name
from extract.markup.html import decode_html

DAMAGED = (
    ValueError,
    KeyError,
    LookupError,
    AttributeError,
    TypeError,
    AssertionError,
    OSError,
    struct.error,
)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield headers, body and attachments; raise `Corrupted`, `Empty` or `TooLarge`."""
    try:
        message = Message.load(str(path))
        letter, attachments = _letter(message), list(_attachments(message))
    except DAMAGED as error:
        raise Corrupted from error
    yield from letter_findings(letter, attachments, "msg", request)


def _letter(message: Message) -> Letter:
    headers = message.message_headers
    recipients = ", ".join(
        filter(None, (_address(one.name, one.email_address) for one in message.recipients))
    )
    date = headers.get("Date") or (message.sent_date.isoformat(" ", "seconds") if message.sent_date else "")
    shown = (
        ("From", message.sender or ""),
        ("To", headers.get("To") or recipients),
        ("Cc", headers.get("Cc") or ""),
        ("Date", date),
    )
    html = decode_html(message.html_body.encode()) if message.html_body else ""
    return Letter(message.subject or "", shown, message.body or "", html)


def _address(name: str | None, address: str | None) -> str:
    if name and address and name != address:
        return f"{name} <{address}>"
    return name or address or ""


def _attachments(message: Message) -> Iterator[Attachment]:
    for number, attached in enumerate(message.attachments, start=1):
        if content := attached.file_bytes:
            yield Attachment(safe_name(attached.file_name, number), content)
