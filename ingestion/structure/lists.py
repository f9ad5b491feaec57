"""List items: paragraphs that begin with a bullet or a number."""

from __future__ import annotations

import re
from dataclasses import replace

from extract.base import Element, Kind

LIST_ITEM = re.compile(r"([•●○▪■◦‣·–—]|[-*]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\([ivx]+\))\s")


def as_list_item(element: Element) -> Element:
    """Return a paragraph that begins as an item does as a list item."""
    is_item = element.kind is Kind.PARAGRAPH and LIST_ITEM.match(element.text)
    return replace(element, kind=Kind.LIST_ITEM) if is_item else element
