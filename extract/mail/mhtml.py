"""Web pages saved as one file (MHTML): the page itself, without the styles and pictures stored beside it."""

from __future__ import annotations

from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from pathlib import Path

from extract.base import Finding, Request
from extract.errors import Corrupted, FileTooLarge, NoText
from extract.kinds import KINDS
from extract.mail.eml import BOUNDARY, DAMAGED, MAX_PARTS, TOO_DEEP
from extract.markup.html import decode_html, page_findings
from extract.text.plain import decode_as

PAGES = frozenset({"text/html", "application/xhtml+xml"})
NO_PAGE = "The file holds no web page. Save the page anew, or print it as PDF, and upload that."


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the elements of the page; raise `Corrupted`, `Empty`, `FileTooLarge` or `NoText`."""
    content = path.read_bytes()
    if len(BOUNDARY.findall(content)) > MAX_PARTS:
        raise FileTooLarge(TOO_DEEP)
    try:
        page = _page(BytesParser(EmailMessage, policy=policy.default).parsebytes(content))
    except (*DAMAGED, RecursionError) as error:
        raise Corrupted from error
    if page is None:
        raise NoText(NO_PAGE)
    yield from page_findings(page, request, "mhtml", KINDS["mhtml"].mime_type)


def _page(message: EmailMessage) -> str | None:
    """Return the root of the parts: the one that the message names, or else the first page."""
    pages: list[MIMEPart] = [part for part in message.walk() if part.get_content_type() in PAGES]
    named = message.get_param("start")
    root = next((part for part in pages if named and part.get("Content-ID") == named), None)
    root = root or next(iter(pages), None)
    content = root.get_payload(decode=True) if root is not None else None
    if root is None or not isinstance(content, bytes):
        return None
    declared = root.get_content_charset()
    return (decode_as(content, declared) if declared else None) or decode_html(content)
