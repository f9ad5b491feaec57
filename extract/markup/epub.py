"""E-books: the chapters of the spine in their order."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from core.errors import DocumentError
from extract.archives import open_archive, read_member
from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted, Encrypted, TooManyPages
from extract.kinds import KINDS
from extract.markup.html import bare_elements, decode_html, html_elements
from extract.places import fold_spaces
from extract.safe_xml import local_name, parse_xml

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})
# Fonts are obfuscated against copying; the text of such books is readable.
FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
PROTECTED = "The e-book is locked by its shop (DRM). Upload a copy without that protection."


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the chapters, each a unit; raise `Corrupted`, `Encrypted`, `TooLarge` or `TooManyPages`."""
    with open_archive(path) as book:
        if _is_protected(book):
            raise Encrypted(PROTECTED)
        package_path = _package_path(book)
        package = _xml(book, package_path)
        chapters = list(dict.fromkeys(_chapters(package, posixpath.dirname(package_path))))
        if not chapters:
            raise Corrupted(
                "The e-book lists no chapters. Save it anew, for instance with Calibre, and upload that."
            )
        if len(chapters) > request.limits.max_pages:
            raise TooManyPages
        yield Opened("epub", KINDS["epub"].mime_type, units=len(chapters), title=_title(package))
        for number in request.units or range(1, len(chapters) + 1):
            yield from _unit(book, chapters[number - 1], number, request)


def _unit(book: ZipFile, name: str, number: int, request: Request) -> Iterator[Finding]:
    content = read_member(book, name)
    if content is None:
        yield UnitRead(number, TextOrigin.UNREADABLE)
        return
    elements = _elements(content, request)
    yield from elements
    tables = sum(found.kind is Kind.TABLE for found in elements)
    yield UnitRead(number, TextOrigin.TEXT if elements else TextOrigin.BLANK, tables=tables)


def _elements(content: bytes, request: Request) -> list[Element]:
    text = decode_html(content)
    if request.safe_mode:
        return bare_elements(text)
    try:
        return html_elements(text)
    except DocumentError:
        return []


def _is_protected(book: ZipFile) -> bool:
    content = read_member(book, ENCRYPTION)
    if content is None:
        return False
    methods = (node.get("Algorithm") for node in parse_xml(content).iter("{*}EncryptionMethod"))
    return any(method not in FONT_OBFUSCATION for method in methods)


def _package_path(book: ZipFile) -> str:
    roots = (node.get("full-path") for node in _xml(book, CONTAINER).iter("{*}rootfile"))
    return next((unquote(path) for path in roots if path), "")


def _xml(book: ZipFile, name: str) -> etree._Element:
    content = read_member(book, name)
    if content is None:
        raise Corrupted("The e-book lacks its table of parts. Save it anew and upload that.")
    return parse_xml(content)


def _chapters(package: etree._Element, folder: str) -> Iterator[str]:
    items = {node.get("id"): node for node in package.iter("{*}item")}
    for reference in package.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and item.get("media-type") in CHAPTER_TYPES and item.get("href"):
            yield posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href")))))


def _title(package: etree._Element) -> str | None:
    titles = (fold_spaces(node.text or "") for node in package.iter() if local_name(node) == "title")
    return next((title for title in titles if title), None)
