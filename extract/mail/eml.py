"""E-mails in their transport format (RFC 5322, MIME)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from pathlib import Path

from extract.base import Finding, Request
from extract.errors import Corrupted, FileTooLarge, UnsupportedType
from extract.mail.encoded_words import decode_words
from extract.mail.letter import Attachment, Letter, letter_findings, safe_name
from extract.markup.html import decode_html
from extract.text.plain import decode, decode_as

SHOWN = ("From", "To", "Cc", "Date")
MAX_DEPTH = 20
MAX_PARTS = 2_000
TOO_DEEP = "The e-mail holds e-mails in e-mails without end. Upload the innermost one by itself."
BOUNDARY = re.compile(rb"^content-type:\s*(?:multipart/|message/rfc822)", re.IGNORECASE | re.MULTILINE)
DAMAGED = (ValueError, LookupError, AttributeError, TypeError, AssertionError)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield headers, body and attachments; raise `Corrupted`, `Empty` or `FileTooLarge`."""
    yield from letter_findings(*letter_of(path.read_bytes()), "eml", request)


def letter_of(content: bytes) -> tuple[Letter, list[Attachment]]:
    """Return a message and its attachments; raise `Corrupted` or `FileTooLarge`."""
    content = _as_ascii(content)
    # The parser recurses into each nested part.
    if len(BOUNDARY.findall(content)) > MAX_PARTS:
        raise FileTooLarge(TOO_DEEP)
    try:
        message = BytesParser(EmailMessage, policy=policy.default).parsebytes(content)
        _check_depth(message)
        return _letter(message), list(_attachments(message))
    except RecursionError as error:
        raise FileTooLarge(TOO_DEEP) from error
    except DAMAGED as error:
        raise Corrupted from error


def _as_ascii(content: bytes) -> bytes:
    """Return the message in an encoding in which headers can be found."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return decode(content).encode()
    return content


def _check_depth(message: EmailMessage) -> None:
    level: list[MIMEPart] = [message]
    for _ in range(MAX_DEPTH):
        level = [part for each in level if each.is_multipart() for part in each.iter_parts()]
        if not level:
            return
    raise FileTooLarge(TOO_DEEP)


def _letter(message: EmailMessage) -> Letter:
    headers = tuple((name, ", ".join(_header(message, name))) for name in SHOWN)
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    return Letter(
        " ".join(_header(message, "Subject")),
        headers,
        _text(plain) if isinstance(plain, EmailMessage) else "",
        _text(html, is_html=True) if isinstance(html, EmailMessage) else "",
    )


def _header(message: EmailMessage, name: str) -> list[str]:
    try:
        values = [str(value) for value in message.get_all(name, [])]
    except DAMAGED:  # a header that even the lenient parser can't decode
        values = [str(value) for key, value in message.raw_items() if key.lower() == name.lower()]
    return [decode_words(value) for value in values]


def _text(part: EmailMessage, *, is_html: bool = False) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    if declared := decode_as(content, part.get_content_charset() or "utf-8"):
        return declared
    try:
        return decode_html(content) if is_html else decode(content)
    except UnsupportedType:  # in no encoding: a few wrong letters are better than no letter
        return decode_as(content, "latin-1") or ""


def _attachments(message: EmailMessage) -> Iterator[Attachment]:
    for number, part in enumerate(message.iter_attachments(), start=1):
        # Pictures that the HTML displays are part of its layout, like a letterhead.
        is_shown = part.get_content_maintype() == "image" and part.get("Content-ID")
        content = _content(part)
        if content and not (is_shown and part.get_content_disposition() != "attachment"):
            yield Attachment(_name(part, number), content)


def _content(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = next(part.iter_parts(), None)
        return inner.as_bytes() if inner is not None else b""
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _name(part: EmailMessage, number: int) -> str:
    if name := part.get_filename():
        return safe_name(decode_words(name), number)
    if part.get_content_type() == "message/rfc822":
        inner = next(part.iter_parts(), None)
        subject = " ".join(_header(inner, "Subject")) if isinstance(inner, EmailMessage) else ""
        return safe_name(f"{subject.replace('/', '-') or 'message'}.eml", number)
    return safe_name(None, number)
