"""HTML: uploaded pages completely, pages from the web without what surrounds their content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import dropwhile
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html

from extract.base import Element, Finding, Kind, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted, Empty
from extract.markup.blocks import blocks
from extract.markup.hidden import take_hidden
from extract.markup.raised import raise_figures
from extract.places import fold_spaces
from extract.text.plain import decode, decode_as, paragraphs_of

META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
META_WITHIN = 4096
DECLARATION = re.compile(r"\A\s*+<\?xml[^>]*\?>")
# Unclosed elements go on to the end, as in browsers. Searching for an end again from each beginning would
# take quadratic time.
TAG = re.compile(
    r"<(script|style)\b.*?(?:</\1\s*+>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*+>", re.IGNORECASE | re.DOTALL
)
NOT_CONTENT = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER})
OF_HEAD = frozenset({"base", "link", "meta", "noscript", "script", "style", "template", "title"})


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the elements of the page, or of its main content alone; raise `Empty` if it shows no text."""
    yield from page_findings(decode_html(path.read_bytes()), request, "html", "text/html")


def page_findings(text: str, request: Request, file_type: str, mime_type: str) -> Iterator[Finding]:
    """Yield the findings of a page in a file of some type; raise `Empty` if it shows no text."""
    root = parse_html(text)
    hidden = take_hidden(root)
    is_changed = raise_figures(root) or bool(hidden)
    elements = _elements(text, root, request, is_changed=is_changed)
    if not elements:
        raise Empty("The page shows no text. If a script writes it, print the page as PDF and upload that.")
    yield Opened(file_type, mime_type, title=title_of(root))
    yield from elements
    yield from hidden
    tables = sum(found.kind is Kind.TABLE for found in elements)
    yield UnitRead(1, TextOrigin.TEXT, tables=tables)


def html_elements(text: str) -> list[Element]:
    """Return the elements of a page, or of a piece of one such as an e-mail's body."""
    root = parse_html(text)
    hidden = take_hidden(root)
    raise_figures(root)
    return [*blocks(root), *hidden]


def bare_elements(text: str) -> list[Element]:
    """Return the text between the tags of a page: the most robust way to read it."""
    return list(paragraphs_of(unescape(TAG.sub(" ", text)), with_lines=False))


def parse_html(text: str) -> etree._Element:
    """Return the root element of a page; raise `Empty` or `Corrupted`."""
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root: etree._Element = lxml_html.document_fromstring(
            DECLARATION.sub("", text).encode(), parser=parser
        )
    except etree.ParserError as error:
        raise Empty from error
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Corrupted from error
    _end_head(root)
    return root


def _end_head(root: etree._Element) -> None:
    """Move into the body what is in the head only because its end has no tag.

    The parser knows no elements of HTML 5, and so no head that ends where an <article> begins.
    """
    head = root.find("head")
    if head is None:
        return
    misplaced = list(dropwhile(lambda child: child.tag in OF_HEAD, head))
    if not misplaced:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    misplaced[-1].tail = (misplaced[-1].tail or "") + (body.text or "")
    body.text = None
    for child in misplaced + list(body):
        body.append(child)


def decode_html(content: bytes) -> str:
    """Return a page as text, in the declared encoding if the bytes are valid in it."""
    declared = META_CHARSET.search(content, 0, META_WITHIN)
    is_marked = content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"))
    encoding = declared[1].decode("ascii", "replace") if declared and not is_marked else None
    text = decode_as(content, encoding) if encoding else None
    return decode(content) if text is None else text


def title_of(root: etree._Element) -> str | None:
    """Return the page's title."""
    return fold_spaces(root.findtext(".//title") or "") or None


def _elements(text: str, root: etree._Element, request: Request, *, is_changed: bool) -> list[Element]:
    if request.safe_mode:
        return bare_elements(text)
    if request.main_content:
        from extract.markup.webpage import main_elements

        seen = etree.tostring(root, encoding="unicode", method="html") if is_changed else text
        if found := main_elements(seen):
            return found
    found = list(blocks(root))
    if all(element.kind in NOT_CONTENT for element in found):
        # The page holds nothing but navigation, so this is its content.
        return [Element(Kind.PARAGRAPH, element.located) for element in found]
    return found
